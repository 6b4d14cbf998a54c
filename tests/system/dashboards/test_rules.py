"""The rules: written by their builder, clean, about metrics that exist, and each tried on series made up for it."""

from pathlib import Path

import pytest
import yaml

from dashboards.rules import RULES_FILE, build_rules
from tests.support.dashboards.rules import CASES
from tests.support.prometheus import run_program

ADDRESS = "https://runbooks.example/RUNBOOKS.md"


def test_promtool_finds_nothing(tmp_path: Path) -> None:
    path = tmp_path / RULES_FILE
    path.write_text(build_rules())
    done = run_program("promtool", "check", "rules", "--lint=all", "--lint-fatal", path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_promtool_agrees_with_each_case_of_the_rules(path: Path, tmp_path: Path) -> None:
    """Their texts are what is tried, but for what to do: the runbook's address stands for that."""
    rules = yaml.safe_load(build_rules(runbooks=ADDRESS))
    for alert in (alert for group in rules["groups"] for alert in group["rules"]):
        del alert["annotations"]["fix"]
    (tmp_path / RULES_FILE).write_text(yaml.safe_dump(rules))
    case = tmp_path / "tests" / path.name
    case.parent.mkdir()
    case.write_text(path.read_text())
    done = run_program("promtool", "test", "rules", case)
    assert done.returncode == 0, done.stdout + done.stderr
