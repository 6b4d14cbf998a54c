"""Shared by the tests of script calls."""

from streamops.wire.script_calls import Call


def counting(key: str) -> Call:
    return Call(key, ("0-0", "+", 10, 1000, 10), lambda reply: ("counted", reply[0]))
