"""Expressions over entries: JMESPath, compiled once, strict where JMESPath would quietly say no, and bounded in what they may make."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final

import jmespath
from jmespath.exceptions import (
    IncompleteExpressionError,
    JMESPathError,
    JMESPathTypeError,
    LexerError,
    ParseError,
)
from jmespath.functions import Functions
from jmespath.visitor import TreeInterpreter
from msgspec import DecodeError, json

from streamops.errors import SettingsError, known_hint
from streamops.model.entries import StreamEntry
from streamops.model.text import name_text

Tree = dict[str, Any]

ROOTS: Final = ("id", "time", "fields", "json")
DEAD_LETTER_ROOTS: Final = ("id", "time", "reason", "group", "deliveries", "error", "fields", "json")
"""What an expression over dead letters sees."""

ORDERINGS: Final = frozenset({"lt", "lte", "gt", "gte"})
SIGNS: Final = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
CHAINS: Final = frozenset(
    {
        "subexpression",
        "index_expression",
        "projection",
        "filter_projection",
        "value_projection",
        "flatten",
        "pipe",
    }
)
FUNCTIONS: Final = frozenset(Functions.FUNCTION_TABLE)
SHOWN: Final = 60
BARE_NUMBER: Final = re.compile(r"([<>]=?|[=!]=)\s*(-?\d+(?:\.\d+)?)")


class Expression:
    """A compiled filter.

    Attributes:
        text: The expression as it was written.
        wants_json: Whether it may look at values decoded as JSON.
    """

    def __init__(self, text: str, roots: Sequence[str] = ROOTS) -> None:
        """Compile ``text``; raises ``SettingsError``, with the position, if it is not JMESPath.

        Args:
            text: The expression.
            roots: The names that a document has.
        """
        self.text = text
        guide = _guide(roots)
        try:
            self._tree = _parsed(text)
            _check_names(self._tree, text, roots)
            _check_size(self._tree, text)
        except (JMESPathError, RecursionError) as error:
            message = f"expression {_shown(text)}: {_fault(error, text)}"
            raise SettingsError(message, _number_hint(error, text) or guide) from None
        self._interpreter = _StrictInterpreter()
        # "@" hands on the whole entry, so that anything may ask for json behind it.
        self.wants_json = "json" in text or "@" in text or "*" in text

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def matches(self, entry: StreamEntry) -> bool:
        """Whether the expression is true of an entry, as JMESPath counts truth: not null, false or empty.

        Raises:
            SettingsError: It compares or computes with values of kinds that do not go together.
        """
        return self.holds(entry_document(entry, with_json=self.wants_json))

    def holds(self, document: dict[str, Any], what: str = "") -> bool:
        """The same of a document, called ``what`` in errors; raises ``SettingsError`` as ``matches`` does."""
        try:
            answer: Any = self._interpreter.visit(self._tree, document)
        except (_MixedTypesError, ArithmeticError, RecursionError, TypeError, ValueError) as error:
            what = what or f"entry {document['id']}"
            message = f"expression {_shown(self.text)} fails on {what}: {_fault(error, self.text)}"
            raise SettingsError(
                message,
                "Convert with to_number(...) or to_string(...), or use json.FIELD, which has typed values.",
            ) from None
        return answer is not None and answer is not False and answer not in ("", [], {})


def entry_document(entry: StreamEntry, *, with_json: bool = True) -> dict[str, Any]:
    """What an expression sees of an entry.

    ``id`` and ``time`` (RFC 3339, null where the ID is no time) are strings; ``fields`` has every value as a
    string, ``json`` those that decode as JSON, decoded. Of a repeated name the last value counts.
    """
    moment = entry.id.time
    fields = {name_text(name): value for name, value in entry.fields}
    document: dict[str, Any] = {
        "id": str(entry.id),
        "time": None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "fields": {name: name_text(value) for name, value in fields.items()},
    }
    if with_json:
        decoded = {name: _decoded(value) for name, value in fields.items()}
        document["json"] = {name: value for name, value in decoded.items() if value is not _NOT_JSON}
    return document


class _MixedTypesError(Exception):
    """An ordering of values that have no order among each other."""


class _StrictInterpreter(TreeInterpreter):  # type: ignore[misc]  # jmespath has no types
    """JMESPath's interpreter, except that ordering values of two kinds is an error, and nulls go through functions."""

    def visit_function_expression(self, node: Tree, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Call a function; one that refuses a null (a field some entries lack) gives null."""
        try:
            return super().visit_function_expression(node, value)
        except JMESPathTypeError as error:
            if error.actual_type == "null":
                return None
            raise

    def visit_comparator(self, node: Tree, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Compare; null on either side gives null."""
        if node["value"] not in ORDERINGS:
            return super().visit_comparator(node, value)
        left, right = (self.visit(child, value) for child in node["children"])
        if left is None or right is None:
            return None
        kinds = _kind(left), _kind(right)
        if kinds[0] != kinds[1] or kinds[0] not in ("number", "string"):
            sign = SIGNS[node["value"]]
            raise _MixedTypesError(
                f"{_shown(left)} {sign} {_shown(right)} compares {kinds[0]} with {kinds[1]}"
            )
        return self.COMPARATOR_FUNC[node["value"]](left, right)


_NOT_JSON: Final = object()


def _parsed(text: str) -> Tree:
    with warnings.catch_warnings():
        # Literals without quotes, `DE`, are an old spelling that JMESPath still reads.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        tree: Tree = jmespath.compile(text).parsed
        return tree


def _decoded(value: bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.decode(value)
    except (DecodeError, RecursionError, UnicodeDecodeError):
        return _NOT_JSON


def _kind(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _fault(error: Exception, text: str) -> str:
    match error:
        case RecursionError():
            return "nested too deeply"
        case IncompleteExpressionError():
            return f"it ends too early, at position {len(text) + 1}"
        case LexerError():
            return f"{error.message} at position {error.lexer_position + 1}"
        case ParseError() if isinstance(error.lex_position, int):
            return f"unexpected {error.token_value!r} at position {error.lex_position + 1}"
        case _:
            return " ".join(str(error).split())


def _number_hint(error: Exception, text: str) -> str:
    """How a number is written, where one stands bare behind a comparison; empty if none does."""
    bare = BARE_NUMBER.search(text)
    if bare is None or not isinstance(error, JMESPathError):
        return ""
    sign, number = bare.groups()
    return f"Numbers are written between backticks: {sign} `{number}`."


def _guide(roots: Sequence[str]) -> str:
    example = "fields.status == 'failed'" if "fields" in roots else "body.status == 'failed'"
    return f"Expressions are JMESPath over {{{', '.join(roots)}}}, such as {example}."


def _check_names(tree: Tree, text: str, roots: Sequence[str]) -> None:
    """A name that no entry has would make a filter that never matches, an unknown function one that always fails."""
    for name in _root_names(tree):
        if name not in roots:
            what, inside = ("an entry", "fields") if "fields" in roots else ("an answer", roots[-1])
            hint = f"Did you mean {inside}.{name}? {_guide(roots)}"
            raise SettingsError(f"expression {_shown(text)}: {what} has no {name!r} at its root", hint)
    for name in _function_names(tree):
        if name not in FUNCTIONS:
            hint = known_hint(name, FUNCTIONS, "functions")
            raise SettingsError(f"expression {_shown(text)}: there is no function {name}()", hint)


def _check_size(tree: Tree, text: str) -> None:
    if copies(tree) >= MOST_COPIES:
        raise SettingsError(
            f"expression {_shown(text)} multiplies what it looks at beyond measure",
            "A condition compares single values, such as fields.status == 'failed'.",
        )


def _root_names(node: Tree) -> Iterator[str]:
    """The names that are looked up in the entry itself, not in something found there."""
    if node["type"] == "field":
        yield node["value"]
    children = node["children"][:1] if node["type"] in CHAINS else node["children"]
    for child in _nodes(children):
        if child["type"] != "expref":
            yield from _root_names(child)


def _function_names(node: Tree) -> Iterator[str]:
    if node["type"] == "function_expression":
        yield node["value"]
    for child in _nodes(node["children"]):
        yield from _function_names(child)


def _nodes(children: Iterable[Any]) -> Iterator[Tree]:
    """Those that are nodes: a slice's are numbers, or nothing."""
    return (child for child in children if isinstance(child, dict))


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
