"""A journal keeps what was played, so that what is left is what was not, or failed."""

from pathlib import Path

from msgspec.structs import replace

from tests.chaos.history import History
from tests.chaos.ledger import Fault, Line, Probe, Word
from tests.chaos.report import report
from tests.chaos.results import CRASHES, PROCESSES, Job, Journal, Result, recoveries
from tests.chaos.worker import Post
from tests.support.servers import RunningServer

JOBS = [Job(PROCESSES, "redis-7.0", seed) for seed in range(3)]


def test_what_was_played_and_has_not_failed_is_not_played_again(tmp_path: Path) -> None:
    path = tmp_path / "there" / "journal"
    journal = Journal(path)
    journal.add(Result(job=JOBS[0]))
    journal.add(Result(job=JOBS[1], problem="lost"))
    assert Journal(path).left(JOBS) == JOBS[1:]
    journal.add(Result(job=JOBS[1]))
    assert Journal(path).left(JOBS) == JOBS[2:]


def test_the_half_line_of_a_run_that_was_killed_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path).add(Result(job=JOBS[0]))
    with path.open("ab") as file:
        file.write(b'{"job":{"kind":"proc')
    assert Journal(path).left(JOBS) == JOBS[1:]
    Journal(path).add(Result(job=JOBS[1]))
    assert Journal(path).left(JOBS) == JOBS[2:]


def test_a_report_tells_what_failed_and_how_to_play_it_again() -> None:
    failed = Result(
        job=Job(CRASHES, "redis-7.0", 7), problem="lost: o1 (ok)\nand more", faults={"pump: x": 1}
    )
    played = Result(job=JOBS[2], faults={"kill": 2}, destroyed={"not replicated": 5})
    told = report([failed, played])
    assert "python -m tests.chaos --kind crashes --servers redis-7.0 --seed 7\n    lost: o1 (ok)" in told
    assert "not replicated" in told
    assert report([replace(failed, problem="")]).endswith("Nothing failed.")
    assert report([]) == "Nothing was played yet."


def test_recovery_counts_from_the_end_of_the_last_fault_before_it(
    server: RunningServer, tmp_path: Path
) -> None:
    history = History(server, tmp_path, Post())
    history.probes = {"1-0": Probe("cut", 10.0), "2-0": Probe("hole", 10.0)}
    history.faults = [Fault("cut", 9.0, 10.0), Fault("pause", 10.5, 12.0), Fault("kill", 20.0, 21.0)]
    lines = [Line(12.5, Word.DONE, 1, "1-0", "1-0", 1, "probe0")]
    assert recoveries(history, lines) == [("cut", 0.5)]
    stopped = [Line(12.25, Word.GAP, pid, start) for pid, start in ((1, "11.0"), (2, "12.125"), (1, "12.0"))]
    assert recoveries(history, [*lines, *stopped]) == [("cut", 0.25)]
