"""The runbooks: a section for every alert, in one shape, with commands that exist."""

import re
import shlex
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import Any, Final

import click
import pytest
import yaml

from dashboards.rules import ALERTS, build_rules
from dashboards.runbooks import FILE, anchor
from streamops.main.catalogue import COMMANDS
from streamops.main.program import PROGRAM, ROOT

ADDRESS: Final = "https://runbooks.example/streamops"
TEXT: Final = FILE.read_text()
NAMES: Final = {alert.name for alerts in ALERTS.values() for alert in alerts}
HEADINGS: Final = sorted(alert.runbook for alerts in ALERTS.values() for alert in alerts)
BLOCK: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)
INLINE: Final = re.compile(rf"`({PROGRAM} [^`]+)`")
STAND_INS: Final = dict.fromkeys(("ID", "POSITION", "AUDIT_ID"), "1526919030474-0")
"""What to put in for words that stand for something with a form of its own."""
PART: Final = re.compile(
    r"^\*\*(Meaning\.|Diagnosis\.|Mitigation\.|Do not\*\*|Harmless when\*\*)", re.MULTILINE
)


def sections() -> dict[str, str]:
    """What stands under each heading; an alert's own has nothing if each of its codes has one."""
    parts = re.split(r"^##+ (.+)\n", TEXT, flags=re.MULTILINE)
    return {heading: text for heading, text in zip(parts[1::2], parts[2::2], strict=True) if text.strip()}


def command_lines() -> list[str]:
    """Every command line, in blocks and in sentences."""
    blocks = [line for block in BLOCK.findall(TEXT) for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in blocks)
    return sorted(
        {line.removeprefix("$ ") for line in blocks}
        | {" ".join(found.split()) for found in INLINE.findall(TEXT)}
    )


def test_every_alert_has_its_section_and_nothing_else_has() -> None:
    assert sorted(sections()) == HEADINGS
    assert set(re.findall(r"^## (.+)", TEXT, re.MULTILINE)) == NAMES


def test_a_code_stands_below_its_alert() -> None:
    below = {
        code: alert
        for alert, text in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
        for code in re.findall(r"^### (\w+)$", text, re.MULTILINE)
    }
    alerts = [alert for alerts in ALERTS.values() for alert in alerts if alert.code]
    assert below == {alert.code: alert.name for alert in alerts}


def test_links_of_the_rules_lead_to_sections() -> None:
    anchors = {anchor(name) for name in sections()}
    for rule in _alerts(yaml.safe_load(build_rules(runbooks=ADDRESS))):
        address, _, target = rule["annotations"]["runbook_url"].partition("#")
        assert address == ADDRESS
        assert target in anchors


def test_other_alerts_that_are_named_exist() -> None:
    named = set(re.findall(r"(?:see|See|at|under|and|or) ((?:[A-Z][A-Za-z]+){2,})", TEXT))
    assert {name for name in named if re.search(r"[a-z][A-Z]", name)} <= NAMES


def test_every_section_has_the_same_parts_and_a_command_to_look_with() -> None:
    for name, section in sections().items():
        found = [part.rstrip(".*") for part in PART.findall(section)]
        assert found == ["Meaning", "Diagnosis", "Mitigation", "Do not", "Harmless when"], name
        assert BLOCK.search(section[section.index("**Diagnosis.**") : section.index("**Mitigation.**")]), name


def test_every_command_line_parses() -> None:
    for line in command_lines():
        program, *words = shlex.split(line)
        assert program == PROGRAM
        if len(words) == 1 and f"$ {line}\n" not in TEXT:
            # A sentence that only names the command.
            assert words[0] in COMMANDS
            continue
        # So does one without what it needs.
        with nullcontext() if f"$ {line}\n" in TEXT else suppress(click.MissingParameter):
            for command, context in _parsed([STAND_INS.get(word, word) for word in words]):
                assert not isinstance(command, click.Group) or _rest(context), "stops at a family"


@pytest.mark.parametrize(
    "line", [f"{PROGRAM} groups", f"{PROGRAM} groups drop A B", f"{PROGRAM} claim A B --for C"]
)
def test_a_wrong_command_line_is_noticed(line: str) -> None:
    with pytest.raises(click.ClickException):
        list(_parsed(shlex.split(line)[1:]))


def test_what_changes_something_is_shown_first() -> None:
    """Nobody pastes a command at night that acts before it was looked at."""
    acts = {"ack", "claim", "replay", "trim"}
    acts |= {
        "consumers prune",
        "consumers rm",
        "delayed run-now",
        "dlq purge",
        "groups rm",
        "pools pause",
        "pools resume",
        "groups rewind",
        "pools scale",
        "streams reclaim",
        "pools limits",
        "pools override",
        "autoscale pause",
        "autoscale resume",
    }
    pasted = [line for block in BLOCK.findall(TEXT) for line in block.splitlines()]
    acting = [line for line in pasted if any(f"{PROGRAM} {act} " in f"{line} " for act in acts)]
    assert len(acting) >= 15
    assert [line for line in acting if "--dry-run" not in line] == []
    assert all(act.split()[0] in COMMANDS for act in acts)


def _parsed(words: list[str]) -> Iterator[tuple[click.Command, click.Context]]:
    """The commands that a command line calls, each with what was made of its words."""
    command: click.Command = ROOT
    context: click.Context | None = None
    name: str | None = PROGRAM
    while True:
        context = command.make_context(name, list(words), parent=context)
        yield command, context
        if not isinstance(command, click.Group):
            return
        name, found, words = command.resolve_command(context, _rest(context))
        assert found is not None
        command = found


def _rest(context: click.Context) -> list[str]:
    return [*context._protected_args, *context.args]


def _alerts(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for group in document["groups"] for rule in group["rules"] if "alert" in rule]
