"""The rules: written by their builder, clean, about metrics that exist, and each tried on series made up for it."""

import re
from pathlib import Path

import pytest
import yaml

from dashboards.rules import RULES_FILE, build_rules
from streamops.monitor.rules import RULES
from tests.support.dashboards.rules import CASES
from tests.support.prometheus import run_program

ADDRESS = "https://runbooks.example/RUNBOOKS.md"
MEANINGS = {rule.code.value: rule.means.replace("'", "''") for rule in RULES}
MEANT = re.compile(r"\$\{(\w+)\}")


def test_promtool_finds_nothing(tmp_path: Path) -> None:
    path = tmp_path / RULES_FILE
    path.write_text(build_rules())
    done = run_program("promtool", "check", "rules", "--lint=all", "--lint-fatal", path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_promtool_agrees_with_each_case_of_the_rules(path: Path, tmp_path: Path) -> None:
    """``${code}`` in a case is what a rule means; ``fix`` is left out, as it is long and the runbook has its text."""
    rules = yaml.safe_load(build_rules(runbooks=ADDRESS))
    for alert in (alert for group in rules["groups"] for alert in group["rules"]):
        del alert["annotations"]["fix"]
    (tmp_path / RULES_FILE).write_text(yaml.safe_dump(rules))
    case = tmp_path / "tests" / path.name
    case.parent.mkdir()
    case.write_text(MEANT.sub(lambda code: MEANINGS[code[1]], path.read_text()))
    done = run_program("promtool", "test", "rules", case)
    assert done.returncode == 0, done.stdout + done.stderr
