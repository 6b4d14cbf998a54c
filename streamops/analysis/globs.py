"""Redis's glob patterns, for names that are already here."""

import re
from functools import lru_cache

WILDCARDS = re.compile(r"[*?\[\\]")


def is_literal(pattern: str) -> bool:
    """Whether a pattern can match only itself."""
    return WILDCARDS.search(pattern) is None


def matches(pattern: str, name: str) -> bool:
    r"""Whether a name matches a pattern, by the rules of Redis's KEYS and SCAN: ``*``, ``?``, ``[a-z]``, ``[^a]``, ``\\``."""
    return _compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts, at = [], 0
    while at < len(pattern):
        part, at = _part(pattern, at)
        parts.append(part)
    return re.compile("".join(parts), re.DOTALL)


def _part(pattern: str, at: int) -> tuple[str, int]:
    """The expression for the element at ``at``, and where the next one starts."""
    char = pattern[at]
    if char == "*":
        return ".*", at + 1
    if char == "?":
        return ".", at + 1
    if char == "[":
        return _character_class(pattern, at + 1)
    if char == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(char), at + 1


def _character_class(pattern: str, at: int) -> tuple[str, int]:
    """A class; like Redis, one that is not closed ends with the pattern."""
    negated = pattern[at : at + 1] == "^"
    at += negated
    alternatives = []
    while at < len(pattern) and pattern[at] != "]":
        if pattern[at] == "\\" and at + 1 < len(pattern):
            at += 1
            alternatives.append(re.escape(pattern[at]))
        elif pattern[at + 1 : at + 2] == "-" and at + 2 < len(pattern):
            low, high = sorted((pattern[at], pattern[at + 2]))
            alternatives.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 2
        else:
            alternatives.append(re.escape(pattern[at]))
        at += 1
    if not alternatives:
        return (".", at + 1) if negated else (r"(?!)", at + 1)
    return f"[{'^' if negated else ''}{''.join(alternatives)}]", at + 1
