"""Which labels an expression answers with, worked out from the catalogue; what can match nothing is an error."""

from typing import Any, Final

import promql_parser as promql

from docs.worker_families import WORKER_FAMILIES
from streamops.exporter.catalogue import FAMILIES
from streamops.exporter.families import MetricFamily, MetricKind

Labels = frozenset[str]

TARGET: Final = frozenset({"job", "instance"})
"""What Prometheus adds to all that it scrapes."""

ALERT: Final = TARGET | {
    "alertname",
    "code",
    "alertstate",
    "component",
    "severity",
    "db",
    "stream",
    "group",
    "handler",
    "pool",
}
SETS: Final = frozenset({"and", "or", "unless"})
SUFFIXES: Final = {"_bucket": frozenset({"le"}), "_sum": frozenset[str](), "_count": frozenset[str]()}


class MatchesNothingError(Exception):
    """An expression speaks of a metric or a label that is not there."""


def _series(family: MetricFamily) -> dict[str, Labels]:
    labels = TARGET | frozenset(family.labels)
    if family.kind is not MetricKind.HISTOGRAM:
        return {family.name: labels}
    return {f"{family.name}{suffix}": labels | more for suffix, more in SUFFIXES.items()}


def _all_series(families: tuple[MetricFamily, ...]) -> dict[str, Labels]:
    return {name: labels for family in families for name, labels in _series(family).items()}


EXPORTED: Final = _all_series(FAMILIES)
WORKERS: Final = _all_series(WORKER_FAMILIES)
KNOWN: Final = EXPORTED | WORKERS | {"ALERTS": ALERT}


def selectors_of(expr: promql.Expr) -> list[promql.VectorSelector]:
    """The selectors in an expression."""
    found: list[promql.VectorSelector] = []

    def visit(node: promql.Expr) -> None:
        if isinstance(node, promql.VectorSelector):
            found.append(node)
        elif isinstance(node, promql.MatrixSelector):
            found.append(node.vector_selector)

    promql.walk(expr, visit)
    return list({id(one): one for one in found}.values())


def labels_of(expr: Any) -> Labels | None:  # noqa: ANN401 - any node of the tree
    """The labels of an expression's answer; none for a plain number.

    Raises:
        MatchesNothingError: A metric or a label in it is not there.
    """
    if isinstance(expr, promql.VectorSelector):
        return _selected(expr)
    if isinstance(expr, promql.MatrixSelector):
        return _selected(expr.vector_selector)
    if isinstance(expr, promql.ParenExpr | promql.UnaryExpr):
        return labels_of(expr.expr)
    if isinstance(expr, promql.AggregateExpr):
        return _aggregated(expr)
    if isinstance(expr, promql.BinaryExpr):
        return _combined(expr)
    if isinstance(expr, promql.Call):
        return _called(expr)
    return None


def _selected(selector: promql.VectorSelector) -> Labels:
    matchers = {matcher.name: matcher.value for matcher in selector.matchers.matchers}
    names = (selector.name or matchers.pop("__name__", "")).split("|")
    if unknown := sorted({*names} - KNOWN.keys()):
        raise MatchesNothingError(f"no metric {unknown}")
    labels = frozenset.intersection(*(KNOWN[name] for name in names))
    _require(labels, set(matchers), selector.prettify())
    return labels


def _aggregated(expr: promql.AggregateExpr) -> Labels:
    inner = labels_of(expr.expr) or frozenset()
    if str(expr.op) in {"topk", "bottomk"}:
        return inner
    kept = frozenset(expr.modifier.labels) if expr.modifier else frozenset[str]()
    _require(inner, kept, expr.prettify())
    return kept


def _called(expr: promql.Call) -> Labels | None:
    inner = [labels_of(argument) for argument in expr.args]
    vectors = [labels for labels in inner if labels is not None]
    if expr.func.name == "histogram_quantile":
        _require(vectors[0], {"le"}, expr.prettify())
        return vectors[0] - {"le"}
    if expr.func.return_type is promql.ValueType.Scalar:
        return None
    return vectors[0] if vectors else frozenset()


def _combined(expr: promql.BinaryExpr) -> Labels | None:
    left, right = labels_of(expr.lhs), labels_of(expr.rhs)
    if left is None or right is None:
        return right if left is None else left
    modifier = expr.modifier
    matching = modifier.matching if modifier else None
    text = expr.prettify()
    if matching is None:
        if str(expr.op) != "or" and left != right:
            raise MatchesNothingError(f"{sorted(left)} and {sorted(right)} never match: {text}")
        return left
    if matching.type != promql.LabelModifierType.Include:
        raise MatchesNothingError(f"say which labels match, not which do not: {text}")
    on = frozenset(matching.labels)
    _require(left, on, text)
    _require(right, on, text)
    if str(expr.op) in SETS:
        return left
    card = modifier.card if modifier else None
    more = frozenset((modifier.group_labels if modifier else None) or ())
    if card == promql.VectorMatchCardinality.ManyToOne:
        _require(right, more, text)
        return left | more
    if card == promql.VectorMatchCardinality.OneToMany:
        _require(left, more, text)
        return right | more
    return on


def _require(there: Labels, wanted: set[str] | Labels, text: str) -> None:
    if missing := wanted - there:
        raise MatchesNothingError(f"no label {sorted(missing)}: {text}")
