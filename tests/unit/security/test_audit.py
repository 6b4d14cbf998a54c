"""What ``make audit`` says: it calls nothing sound that was not looked up."""

from pathlib import Path

import pytest

from tests.support.security.audit import Findings, Library, Verdict, Weakness, judge, main
from tests.support.tables import table

SOUND = Library("redis", "8.1.0")
WEAK = Library("aiohttp", "3.9.1", vulns=(Weakness("CVE-2024-23334", ("3.9.2",)), Weakness("CVE-9", ())))
UNKNOWN = Library("oddly", skip_reason="not found")


@table(
    ("findings", "verdict"),
    [
        (None, Verdict(("a.lock: not audited: the advisory service cannot be reached",))),
        (
            Findings((UNKNOWN, UNKNOWN)),
            Verdict(("a.lock: not audited: the advisory service knows none of its 2 libraries",)),
        ),
        (Findings((SOUND,)), Verdict(("a.lock: 1 of 1 libraries audited have no known weakness",))),
        (
            Findings((SOUND, UNKNOWN)),
            Verdict(("a.lock: 1 of 1 libraries audited have no known weakness; not audited: oddly",)),
        ),
        (
            Findings((SOUND, WEAK, *[UNKNOWN] * 7)),
            Verdict(
                (
                    "a.lock: aiohttp 3.9.1 has a known weakness: CVE-2024-23334, mended in 3.9.2; CVE-9, not mended yet",
                    f"a.lock: 1 of 2 libraries audited have no known weakness; not audited: {'oddly, ' * 4}oddly and 2 more",
                ),
                weak=True,
            ),
        ),
    ],
)
def test_the_verdict_of_an_audit_names_what_was_found_or_not_audited(
    findings: Findings | None, verdict: Verdict
) -> None:
    assert judge("a.lock", findings) == verdict


SCRIPT = """#!/bin/sh
while [ "$1" != --output ]; do shift; done
{write}
exit 1
"""


@pytest.mark.parametrize(
    ("write", "code", "said"),
    [
        ("echo away >&2", 0, "a.lock: not audited: the advisory service cannot be reached\n"),
        ('echo "{" > "$2"', 0, "a.lock: not audited: the advisory service cannot be reached\n"),
        (
            'echo \'{"dependencies":[{"name":"a","version":"1","vulns":[{"id":"X-1","fix_versions":["2"]}]}]}\' > "$2"',
            1,
            "a.lock: a 1 has a known weakness: X-1, mended in 2\na.lock: 0 of 1 libraries audited have no known weakness\n",
        ),
    ],
    ids=["unreachable", "cut", "weak"],
)
def test_a_failure_to_look_is_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], write: str, code: int, said: str
) -> None:
    """The tool ends with 1 in either case."""
    program = tmp_path / "pip-audit"
    program.write_text(SCRIPT.format(write=write))
    program.chmod(0o700)
    assert main(str(program), ["a.lock"]) == code
    assert capsys.readouterr().out == said


def test_without_the_tool_nothing_was_audited(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(str(tmp_path / "none"), ["a.lock"]) == 0
    assert "not audited" in capsys.readouterr().out
