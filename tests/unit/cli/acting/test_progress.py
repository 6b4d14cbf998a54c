"""A job is named while it runs where it is long, and always where it is cut off."""

import pytest

from streamops.cli.acting.printing import WATCHED, ProgressPrinter
from streamops.cli.globals import Globals
from streamops.cli.session import Session

JOB = "4f1c09ab12cd"


@pytest.mark.parametrize(("total", "told"), [(WATCHED - 1, 0), (WATCHED, 1)])
def test_a_long_job_is_named_at_its_beginning(
    total: int, told: int, capfd: pytest.CaptureFixture[str]
) -> None:
    teller = ProgressPrinter(Session(Globals()), total)
    teller.started(JOB)
    assert capfd.readouterr().err.count(f"jobs show {JOB}") == told
    teller.note_unended()
    assert capfd.readouterr().err == f"resume with: streamops jobs resume {JOB}\n"
