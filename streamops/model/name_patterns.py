"""Patterns of names: Redis's globs, and regular expressions that take no longer than in proportion to the name."""

import re
from functools import lru_cache
from typing import Protocol

from streamops.model.text import name_bytes

WILDCARDS = re.compile(r"[*?\[\\]")


def is_literal(pattern: str) -> bool:
    """Whether a pattern can match only itself."""
    return WILDCARDS.search(pattern) is None


def matches(pattern: str, name: str) -> bool:
    r"""Whether a name matches a pattern, by the rules of Redis's SCAN: ``*``, ``?``, ``[a-z]``, ``[^a]``, ``\\``.

    Like Redis it goes by bytes: ``?`` stands for one byte of a character's UTF-8. (Which bytes lie between
    an ASCII one and another depends on the processor of the server; here they count up from 0.)
    """
    if not name:
        # SCAN takes a lone star for no pattern at all; any other star wants something to look at.
        return pattern in {"", "*"}
    return _compiled(pattern).fullmatch(name_bytes(name)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[bytes]:
    """The pattern as an expression that never goes back behind a star it has passed.

    A star may always stop at the first place where what follows it matches, up to the next star: taking
    back that choice wins nothing, and costs hostile names exponential time.
    """
    segments = _segments(name_bytes(pattern))
    if len(segments) == 1:
        return re.compile(segments[0], re.DOTALL)
    first, *middle, last = segments
    hops = b"".join(b"(?>.*?%b)" % segment for segment in middle if segment)
    return re.compile(b"%b%b.*%b" % (first, hops, last), re.DOTALL)


def _segments(pattern: bytes) -> list[bytes]:
    """The expressions of what stands between the stars."""
    segments, at = [b""], 0
    while at < len(pattern):
        if pattern[at : at + 1] == b"*":
            segments.append(b"")
            at += 1
        else:
            part, at = _part(pattern, at)
            segments[-1] += part
    return segments


def _part(pattern: bytes, at: int) -> tuple[bytes, int]:
    """The expression for the element at ``at``, and where the next one starts."""
    byte = pattern[at : at + 1]
    if byte == b"?":
        return b".", at + 1
    if byte == b"[":
        return _byte_class(pattern, at + 1)
    if byte == b"\\" and at + 1 < len(pattern):
        at += 1
    return re.escape(pattern[at : at + 1]), at + 1


def _byte_class(pattern: bytes, at: int) -> tuple[bytes, int]:
    """A class; like Redis, one that is not closed ends with the pattern."""
    negated = pattern[at : at + 1] == b"^"
    at += negated
    alternatives = b""
    while at < len(pattern) and pattern[at : at + 1] != b"]":
        if pattern[at : at + 1] == b"\\" and at + 1 < len(pattern):
            at += 1
            alternatives += re.escape(pattern[at : at + 1])
        elif pattern[at + 1 : at + 2] == b"-" and at + 2 < len(pattern):
            low, high = sorted((pattern[at : at + 1], pattern[at + 2 : at + 3]))
            alternatives += re.escape(low) + b"-" + re.escape(high)
            at += 2
        else:
            alternatives += re.escape(pattern[at : at + 1])
        at += 1
    if not alternatives:
        return (b"." if negated else rb"(?!)"), at + 1
    return b"[%b%b]" % (b"^" if negated else b"", alternatives), at + 1


class NamePattern(Protocol):
    """A regular expression."""

    def fullmatch(self, text: str) -> object:
        """Something where it matches the whole text; None if it does not."""


def name_pattern(text: str) -> NamePattern:
    """The regular expression of a text.

    Raises:
        ValueError: It is none; why, in words.
    """
    import re2  # noqa: PLC0415 - few ask for patterns, and it takes its time and memory

    options = re2.Options()
    # Else it writes to standard error too.
    options.log_errors = False
    problem = ""
    try:
        pattern: NamePattern = re2.compile(text, options)
    except re2.error as error:
        problem = error.args[0].decode()
    except UnicodeEncodeError:
        problem = "it is not UTF-8"
    else:
        return pattern
    raise ValueError(problem)
