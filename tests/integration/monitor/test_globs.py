"""Patterns match here what they match in SCAN."""

import re
import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from streamops.model.name_patterns import is_literal, matches
from tests.support.servers import RunningServer

NAMES = (
    *(
        "a",
        "b",
        "ab",
        "aab",
        "abc",
        "abab",
        "[",
        "]",
        "[]",
        "^",
        "-",
        "\\",
        "*",
        "a*",
        "?",
        "",
        "é",
        "ée",
        "€",
    ),
    *("a-", "b]", "\n", "a\nb", "\udcff", "a\udcffb", "orders:eu", "orders:us", "{orders}:dlq"),
)
TABLE = [
    ("*", "anything", True),
    ("orders", "orders", True),
    ("orders", "orders:eu", False),
    ("orders:*", "orders:eu", True),
    ("orders:*", "order", False),
    ("*:dlq", "{orders}:dlq", True),
    ("h?llo", "hello", True),
    ("h?llo", "hllo", False),
    ("h[ae]llo", "hallo", True),
    ("h[^e]llo", "hallo", True),
    ("h[^e]llo", "hello", False),
    ("h[a-c]llo", "hbllo", True),
    ("h[c-a]llo", "hbllo", True),
    ("h\\*llo", "h*llo", True),
    ("h\\*llo", "hello", False),
    ("[", "[", False),
    ("[^]", "x", True),
    ("[]", "x", False),
    ("a\\", "a\\", True),
    ("?", "é", False),
    ("??", "é", True),
    ("*", "line\nbreak", True),
    ("?", "\udcff", True),
]
pieces = st.sampled_from(
    ["*", "?", "[", "]", "^", "-", "\\", "a", "b", "c", "é", "\udcff", "[ab]", "[^a]", "[a-c]"]
)
patterns = st.lists(pieces, max_size=6).map("".join)
MACHINE_DEPENDENT = re.compile("[^\x00-\x7f]-|-[^\x00-\x7f]")
"""A range that may begin or end outside ASCII: what it holds depends on the server's processor."""


@pytest.mark.parametrize(("pattern", "name", "expected"), TABLE)
def test_glob_matches_as_the_server_does(pattern: str, name: str, *, expected: bool) -> None:
    assert matches(pattern, name) is expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("orders", True),
        ("{orders}:dlq", True),
        ("", True),
        ("a*", False),
        ("a?", False),
        ("[a]", False),
        ("\\a", False),
    ],
)
def test_literal_patterns_match_only_themselves(pattern: str, *, expected: bool) -> None:
    assert is_literal(pattern) is expected
    if expected:
        assert [name for name in NAMES if matches(pattern, name)] == [
            name for name in NAMES if name == pattern
        ]


def test_as_the_server_matches(server: RunningServer) -> None:
    by_bytes = {name.encode("utf-8", "surrogateescape"): name for name in NAMES}
    for raw in by_bytes:
        server.command("SET", raw, "")

    @given(patterns)
    @example("")
    @example("**")
    @example("[a-")
    @example("[\\")
    @example("*\\")
    def check(pattern: str) -> None:
        assume(not MACHINE_DEPENDENT.search(pattern))
        raw = pattern.encode("utf-8", "surrogateescape")
        _, keys = server.command("SCAN", "0", "MATCH", raw, "COUNT", "1000")
        assert {name for name in NAMES if matches(pattern, name)} == {by_bytes[key] for key in keys}

    check()


def test_hostile_names_cost_no_more_than_others() -> None:
    started = time.perf_counter()
    assert not matches("*a" * 20 + "b", "a" * 5_000)
    assert time.perf_counter() - started < 10
