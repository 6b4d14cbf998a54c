"""How much larger than what it looks at an expression's value can be: a few signs can ask for more than any memory holds.

``[@,@]|[@,@]|...`` doubles with every bar. What is doubled is shared, and costs nothing until somebody compares it,
flattens it or makes text of it; then it is too late to ask.
"""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any, Final

MOST_COPIES: Final = 100_000
"""Copies that an expression may make of what it looks at: many more than a condition on entries needs."""

_CHAINS: Final = frozenset(
    {"subexpression", "pipe", "index_expression", "projection", "value_projection", "filter_projection", "key_val_pair",
     "expref", "flatten"}
)  # fmt: skip
"""Nodes whose children look at what the child before gave."""

_QUOTING: Final = "to_string"


def copies(node: Mapping[str, Any]) -> int:
    """How many times what is looked at can stand in the value, at most; ``MOST_COPIES`` is too many to tell."""
    children = [one for one in node["children"] if isinstance(one, dict)]
    if node["type"] == "literal":
        found = _parts(node["value"])
    elif node["type"] in _CHAINS or any(child["type"] == "expref" for child in children):
        found = prod(map(copies, children))
    else:
        found = max(sum(map(copies, children)), 1)
    # A quote within quotes is written with a backslash, and that with two.
    return min(2 * found if node.get("value") == _QUOTING else found, MOST_COPIES)


def _parts(value: object) -> int:
    match value:
        case list():
            return 1 + _sum(value)
        case dict():
            return 1 + _sum(value.values())
    return 1


def _sum(values: Iterable[object]) -> int:
    return sum(map(_parts, values))
