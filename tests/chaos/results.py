"""What runs came to, and the journal that keeps it, so that a later run goes on where this one stopped."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tests.chaos.history import History
from tests.chaos.ledger import Line, Word, read

PROCESSES, CRASHES, TOPOLOGIES, WATCHERS = "processes", "crashes", "topologies", "watchers"
KINDS = (PROCESSES, CRASHES, TOPOLOGIES, WATCHERS)

HEALS = 10.0
"""Seconds beyond the lease within which work goes on after a fault."""


class Job(Struct, frozen=True):
    """A run that is to be played.

    Attributes:
        kind: With real processes, in one process that crashes at a chosen step, on a deployment that fails over, or of
            those who watch.
        label: The server's version.
        seed: What decides all of it.
    """

    kind: str
    label: str
    seed: int


class Result(Struct, frozen=True, kw_only=True):
    """What one run came to.

    Attributes:
        job: Which one.
        scene: What it was about.
        seconds: How long it took.
        problem: What was wrong; empty where nothing was.
        hung: Whether it came to no end.
        faults: How often what went wrong.
        published: Entries that were confirmed.
        handled: Entries that were done.
        retried: Starts after the first.
        buried: Dead letters.
        duplicates: Entries that were done more than once, with good reason.
        effects: Effects.
        destroyed: Entries that a fault destroyed, by its cause.
        recoveries: After which fault it took how many seconds until something new was done.
        readings: Numbers of a console that were held against the truth, by their basis.
        wrong: How many of them were wrong.
        story: The ledger, where it was asked for or something was wrong.
    """

    job: Job
    scene: str = ""
    seconds: float = 0.0
    problem: str = ""
    hung: bool = False
    faults: dict[str, int] = {}
    published: int = 0
    handled: int = 0
    retried: int = 0
    buried: int = 0
    duplicates: int = 0
    effects: int = 0
    destroyed: dict[str, int] = {}
    recoveries: list[tuple[str, float]] = []
    readings: dict[str, int] = {}
    wrong: int = 0
    story: str = ""

    def without_story(self) -> "Result":
        """The same for the journal, which keeps no ledgers."""
        return replace(self, story="")

    @property
    def command(self) -> str:
        """What plays it again, and prints its ledger."""
        return (
            f"python -m tests.chaos --kind {self.job.kind} --servers {self.job.label} --seed {self.job.seed}"
        )


def tell_history(job: Job, scene: str, history: History) -> Result:
    """What a history with real processes came to, whether it came to its end or not."""
    lines = read(history.post.ledger)
    audit, looked = history.audit, history.onlooker
    missing = audit.missing if audit else set()
    return Result(
        job=job,
        scene=scene,
        faults=dict(Counter(fault.kind for fault in (*history.faults, *history.harmless))),
        published=len(history.published),
        handled=len({line.origin for line in lines if line.word is Word.DONE}),
        retried=sum(line.word is Word.START and line.attempt > 1 for line in lines),
        buried=audit.buried if audit else 0,
        duplicates=audit.repeated if audit else 0,
        effects=sum(line.word is Word.EFFECT for line in lines),
        destroyed=dict(Counter(history.excused[one] for one in missing)),
        recoveries=recoveries(history, lines),
        readings=dict(looked.readings) if looked else {},
        wrong=len(looked.wrong) if looked else 0,
    )


def recoveries(history: History, lines: Sequence[Line]) -> list[tuple[str, float]]:
    """After which fault it took how long until what was published right after it was done.

    Where further faults began meanwhile, the time is counted from the end of the last one. Time in which the machine
    did not run a worker does not count.
    """
    done: dict[str, float] = {}
    gaps = [(float(line.origin), line.time) for line in lines if line.word is Word.GAP]
    for line in lines:
        if line.word is Word.DONE:
            done.setdefault(line.origin, line.time)
    found = []
    for origin, probe in history.probes.items():
        if origin not in done:
            continue
        over = [fault.end for fault in history.faults if fault.start < done[origin]]
        since = max([probe.time, *over])
        idle = _covered([(max(start, since), min(end, done[origin])) for start, end in gaps])
        found.append((probe.kind, max(0.0, done[origin] - since - idle)))
    return found


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """How long it is that some spans cover together; empty ones begin after their end."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered


class Journal:
    """A file to which each finished run adds a line; the last one of a run counts."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self.results: dict[Job, Result] = {}
        kept = path.read_bytes() if path.exists() else b""
        if kept and not kept.endswith(b"\n"):
            # Its end was not written: whoever kept it was killed.
            with path.open("ab") as file:
                file.write(b"\n")
        for line in kept.splitlines():
            try:
                result = msgspec.json.decode(line, type=Result)
            except msgspec.DecodeError:
                continue
            self.results[result.job] = result

    def add(self, result: Result) -> None:
        """Keep one more."""
        self.results[result.job] = result
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(result) + b"\n")

    def left(self, jobs: Iterable[Job]) -> list[Job]:
        """Those that were not played yet, or failed."""
        return [job for job in jobs if (known := self.results.get(job)) is None or known.problem]


def totals(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """The sum of counts by name."""
    summed: Counter[str] = Counter()
    for one in counts:
        summed.update(one)
    return summed
