"""What rules are made of, and how they become the YAML that Prometheus reads."""

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from typing import Final

import yaml
from msgspec import Struct

from dashboards.rules.pace import Pace
from dashboards.rules.runbooks import advice

AT_ONCE: Final = timedelta(0)
WIDTH: Final = 1_000_000
"""No line is folded: a text stands on one line, however long, so that a search finds it."""


class Severity(StrEnum):
    """How soon somebody should look: at once, today, or when there is time."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class Record(Struct, frozen=True):
    """A recording rule.

    Attributes:
        name: What it is recorded as.
        expr: What is recorded.
    """

    name: str
    expr: str


class Alert(Struct, frozen=True, kw_only=True):
    """An alerting rule.

    Attributes:
        name: Its name, and the heading of its runbook. Two alerts of one name differ in severity.
        expr: What must hold.
        lasting: For how long, before it fires.
        severity: How soon somebody should look.
        summary: One line: what is wrong with what.
        description: One or two sentences with the numbers.
    """

    name: str
    expr: str
    lasting: timedelta
    severity: Severity
    summary: str
    description: str


class RuleGroup(Struct, frozen=True):
    """Rules that are judged one after the other.

    Attributes:
        name: Its name.
        rules: The rules, in order.
    """

    name: str
    rules: tuple[Record | Alert, ...]


class _Block(str):
    """A text that stands in YAML as it stands here, line by line."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their keys, as Prometheus's own examples do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002 - PyYAML's signature
        """Indent a level, whether or not PyYAML thinks that a list needs it."""
        del indentless
        super().increase_indent(flow, indentless=False)


_Dumper.add_representer(
    _Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
)


def render(groups: Iterable[RuleGroup], pace: Pace, runbooks: str, preamble: str) -> str:
    """The rules as a file for Prometheus.

    Args:
        groups: The groups, in order.
        pace: What the spans are divided by.
        runbooks: The address of the runbooks; empty where they have none.
        preamble: Comment lines for the top, without their ``#``.
    """
    document = {
        "groups": [
            {"name": group.name, "rules": [_rule(rule, pace, runbooks) for rule in group.rules]}
            for group in groups
        ]
    }
    comment = "".join(f"# {line}".rstrip() + "\n" for line in preamble.splitlines())
    return comment + yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)


def _rule(rule: Record | Alert, pace: Pace, runbooks: str) -> dict[str, object]:
    if isinstance(rule, Record):
        return {"record": rule.name, "expr": _expression(rule.expr)}
    lasting = {"for": pace.range(rule.lasting)} if rule.lasting else {}
    return {
        "alert": rule.name,
        "expr": _expression(rule.expr),
        **lasting,
        "labels": {"severity": rule.severity.value},
        "annotations": {
            "summary": rule.summary,
            "description": rule.description,
            **{name: _block(text) for name, text in advice(rule.name, runbooks).items()},
        },
    }


def _expression(text: str) -> str:
    return _Block(text.strip() + "\n") if "\n" in text.strip() else text.strip()


def _block(text: str) -> str:
    return _Block(text) if "\n" in text else text
