"""The audit finds what it is there to find: every kind of problem, in books that are made up."""

import pytest

from tests.chaos.audit import Audit
from tests.chaos.ledger import Fault, FoundDeadLetter, Line, Published, Word

LATER = 100.0


def run(
    origin: str, *words: Word, at: float = 0.0, pid: int = 1, attempt: int = 1, key: str = "k"
) -> list[Line]:
    """The lines of one start."""
    return [
        Line(at + number / 100, word, pid, origin, origin, attempt, key) for number, word in enumerate(words)
    ]


def done(origin: str, *, at: float = 0.0, pid: int = 1, attempt: int = 1, key: str = "k") -> list[Line]:
    return run(origin, Word.START, Word.EFFECT, Word.DONE, at=at, pid=pid, attempt=attempt, key=key)


def audit(
    lines: list[Line],
    *,
    published: dict[str, Published] | None = None,
    faults: tuple[Fault, ...] = (),
    letters: tuple[FoundDeadLetter, ...] = (),
    excused: frozenset[str] = frozenset(),
    guarded: bool = True,
) -> Audit:
    return Audit(
        {"1-0": Published("ok", "k")} if published is None else published,
        lines,
        faults,
        letters,
        guarded=guarded,
        most=2,
        lease=1.0,
        excused=excused,
    )


def test_what_was_done_once_is_no_problem() -> None:
    assert audit(done("1-0")).problems == []


def test_what_was_never_done_is_lost() -> None:
    assert audit([]).problems == ["lost: 1-0 (ok, k)"]


def test_what_was_begun_and_not_ended_is_lost() -> None:
    assert audit(run("1-0", Word.START)).problems == ["lost: 1-0 (ok, k)"]


def test_what_a_fault_destroyed_is_missing_and_not_lost() -> None:
    audited = audit([], excused=frozenset({"1-0"}))
    assert audited.problems == []
    assert audited.missing == {"1-0"}


def test_what_was_done_all_the_same_is_not_missing() -> None:
    assert audit(done("1-0"), excused=frozenset({"1-0"})).missing == set()


def test_one_of_two_events_about_the_same_thing_is_enough_where_there_is_a_guard() -> None:
    both = {"1-0": Published("ok", "k"), "2-0": Published("ok", "k")}
    assert audit(done("1-0"), published=both).problems == []
    assert audit(done("1-0"), published=both, guarded=False).problems == ["lost: 2-0 (ok, k)"]


def test_two_events_about_the_same_thing_must_not_both_be_done() -> None:
    both = {"1-0": Published("ok", "k"), "2-0": Published("ok", "k")}
    (problem,) = audit(done("1-0") + done("2-0", at=LATER), published=both).problems
    assert problem.startswith("guarded, and done for 2 events: k")


@pytest.mark.parametrize("pid", [0, 1], ids=["all of them", "its worker"])
def test_what_was_done_is_done_again_only_after_a_fault(pid: int) -> None:
    twice = done("1-0") + done("1-0", at=LATER, attempt=2)
    (problem,) = audit(twice).problems
    assert problem.startswith("done, and run again (ok)")
    assert audit(twice, faults=(Fault("death", 0.0, 0.5, pid),)).problems == []
    assert audit(twice, faults=(Fault("death", 0.0, 0.5, 7),)).problems != []


def test_two_runs_of_one_entry_must_not_overlap() -> None:
    lines = run("1-0", Word.START) + done("1-0", at=0.005, pid=2, attempt=2) + run("1-0", Word.DONE, at=0.5)
    (problem,) = audit(lines).problems
    assert problem.startswith("overlapping (ok)")


def test_nothing_is_started_more_often_than_allowed() -> None:
    failed = [
        line
        for number in range(3)
        for line in run("1-0", Word.START, Word.FAILED, at=number, attempt=number + 1)
    ]
    letter = FoundDeadLetter("1-0", "max-deliveries", 2, "k")
    assert audit(failed, letters=(letter,)).problems == ["started 3 times: 1-0 (ok)"]


def test_nothing_is_given_up_without_a_reason() -> None:
    letter = FoundDeadLetter("1-0", "max-deliveries", 1, "k")
    (problem,) = audit([], letters=(letter,)).problems
    assert problem.startswith("buried for no reason")
    failed = run("1-0", Word.START, Word.FAILED, attempt=2)
    assert audit(failed, letters=(letter._replace(attempt=2),)).problems == []
