"""A reply that denies."""

from redis.exceptions import ResponseError

DENIED = ResponseError("NOPERM")
