"""Requests to gather."""

from streamops.wire.batches import Request


def echo(word: str) -> Request:
    return Request("k", ("ECHO", word), bytes.decode)
