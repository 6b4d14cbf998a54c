"""The audit finds what was given up unstarted, and events that were swallowed by the key of one that nobody handled."""

from tests.chaos.audit import Audit
from tests.chaos.ledger import FoundDeadLetter, Line, Published, Word

START, DONE = Line(0.0, Word.START, 1, "1-0", "1-0", 1, "k"), Line(1.0, Word.DONE, 1, "1-0", "1-0", 1, "k")


def problems(lines: list[Line], letters: tuple[FoundDeadLetter, ...] = ()) -> list[str]:
    """What is wrong where 1-0 was trimmed while it was pending, and its event published again."""
    published = {"1-0": Published("ok", "k"), "2-0": Published("ok", "k")}
    trimmed = frozenset({"1-0"})
    audit = Audit(
        published, lines, (), letters, guarded=True, most=1, lease=1.0, excused=trimmed, trimmed=trimmed
    )
    return audit.problems


def test_event_of_a_trimmed_one_is_lost_unless_that_was_done() -> None:
    assert problems([]) == ["lost: 2-0 (ok, k)"]
    assert problems([START, DONE]) == []


def test_entry_that_is_given_up_unstarted_is_told() -> None:
    (problem,) = problems([START, DONE], (FoundDeadLetter("2-0", "max-deliveries", 1, "k"),))
    assert problem.startswith("buried though it was never started")


def test_step_that_no_state_leads_to_is_told() -> None:
    drawn, wrong = (Line(0.0, Word.STEP, 1, "RUNNING", state) for state in ("HANDLED", "QUEUED"))
    assert problems([START, DONE, drawn]) == []
    assert problems([START, DONE, drawn, wrong]) == ["a step that nobody drew: RUNNING to QUEUED"]
