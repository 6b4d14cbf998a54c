"""Shared by the tests of replies."""

from redis.exceptions import ResponseError

DENIED = ResponseError("NOPERM")
