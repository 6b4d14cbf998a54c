"""The audit of a history's books: it compares what was published with what was done, and finds what cannot be."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import combinations

from streamops.runtime.entry import EntryState
from tests.chaos.ledger import PROMPT, Fault, FoundDeadLetter, Line, Published, Run, Word
from tests.support.runtime.steps import is_drawn


class Audit:
    """Compares what was published with what was done, and finds what cannot be.

    Attributes:
        problems: What it found.
    """

    def __init__(
        self,
        published: Mapping[str, Published],
        lines: Collection[Line],
        faults: Iterable[Fault],
        letters: Iterable[FoundDeadLetter],
        *,
        guarded: bool,
        most: int,
        lease: float,
        excused: AbstractSet[str] = frozenset(),
        repeatable: AbstractSet[str] = frozenset(),
        trimmed: AbstractSet[str] = frozenset(),
    ) -> None:
        """Audit.

        Args:
            published: By their IDs.
            lines: What handlers wrote.
            faults: What was done.
            letters: What is in the dead-letter queue.
            guarded: Whether handlers have a guard.
            most: How often a handler may start for one entry.
            lease: In seconds.
            excused: IDs that somebody took off the list of pending ones with his own hands.
            repeatable: IDs of which nobody can know any more whether they were acknowledged.
            trimmed: IDs of what was trimmed while it was pending, so that its key is free unless it was done.
        """
        self.problems: list[str] = []
        self._published = published
        steps = {(line.origin, line.entry) for line in lines if line.word is Word.STEP}
        self.problems += [
            f"a step that nobody drew: {former} to {state}"
            for former, state in sorted(steps)
            if not is_drawn((EntryState[former], EntryState[state]))
        ]
        self._lines = sorted(line for line in lines if line.word is not Word.STEP)
        self._faults = [*faults, *(_gap(line) for line in self._lines if line.word is Word.GAP)]
        self._faults += [self._exit(line) for line in self._lines if self._is_exit(line)]
        self._letters = {letter.origin: letter for letter in letters}
        self._guarded = guarded
        self._most = most
        self._lease = lease
        self._excused = excused
        self._repeatable = repeatable | excused
        self._trimmed = trimmed
        self._died = False
        self._runs = self._collect()
        self._done = {run.origin for runs in self._runs.values() for run in runs if run.done}
        self._check_lost()
        self._check_letters()
        self._check_runs()
        if guarded:
            self._check_effects()

    @property
    def done(self) -> set[str]:
        """What was done at least once."""
        return self._done

    @property
    def buried(self) -> int:
        """How many dead letters there are."""
        return len(self._letters)

    @property
    def missing(self) -> set[str]:
        """What was published, is neither done nor a dead letter, and has an excuse."""
        return {
            one
            for one in self._published.keys() & self._excused
            if one not in self._done | self._letters.keys()
        }

    @property
    def repeated(self) -> int:
        """How many entries were done more than once, with good reason."""
        return sum(sum(run.done for run in runs) > 1 for runs in self._runs.values())

    def _check_lost(self) -> None:
        settled = self._done | self._letters.keys() | self._excused
        keeping = settled - (self._trimmed - self._done)
        settled_keys = {what.key for origin, what in self._published.items() if origin in keeping}
        # What was confirmed to nobody may have been added, and done, all the same.
        settled_keys |= {line.key for line in self._lines if line.word is Word.DONE}
        settled_keys |= {letter.key for letter in self._letters.values()}
        for origin, what in self._published.items():
            # Of several events about one thing, the others are known by its key.
            if origin not in settled and not (self._guarded and what.key in settled_keys):
                self._say(f"lost: {origin} ({what.do}, {what.key})")

    def _check_letters(self) -> None:
        for letter in self._letters.values():
            what = self._published.get(letter.origin)
            do = what.do if what else "?"
            if letter.reason == "rejected" and do == "reject":
                continue
            if letter.reason == "payload-missing" and letter.origin in self._trimmed:
                continue
            if letter.reason not in {"max-deliveries", "timeout"} or letter.attempt < self._most:
                self._say(f"buried for no reason: {letter} ({do})")
            # Whoever dies with some starts marked may not have made them all.
            elif letter.origin not in self._runs and not self._died:
                self._say(f"buried though it was never started: {letter} ({do})")

    def _check_runs(self) -> None:
        for origin, runs in self._runs.items():
            what = self._published.get(origin)
            do = what.do if what else "?"
            if len(runs) > self._most and do != "uncounted" and origin not in self._repeatable:
                self._say(f"started {len(runs)} times: {origin} ({do})")
            if origin in self._repeatable:
                continue
            for first, second in combinations(sorted(runs, key=lambda run: run.start), 2):
                if first.end > second.start and not self._is_explained(first, second):
                    self._say(f"overlapping ({do}): {first} {second}")
                elif first.done and not self._is_explained(first, second):
                    self._say(f"done, and run again ({do}): {first} {second}")

    def _check_effects(self) -> None:
        by_key: dict[str, set[str]] = defaultdict(set)
        for line in self._lines:
            if line.word is Word.EFFECT:
                by_key[line.key].add(line.origin)
        for key, origins in by_key.items():
            if len(origins) > 1 and not origins & self._letters.keys() and not origins & self._repeatable:
                self._say(f"guarded, and done for {len(origins)} events: {key} {sorted(origins)}")

    def _is_explained(self, first: Run, second: Run) -> bool:
        """Whether the first one's worker was hit before it can have acknowledged, or the second's came back late."""
        return any(
            (
                fault.pid in (0, first.pid)
                and fault.start <= first.end + PROMPT
                and fault.end >= first.start - PROMPT
            )
            or (
                fault.pid in (0, second.pid)
                and fault.start <= second.start
                and fault.end >= second.start - self._lease - PROMPT
            )
            for fault in self._faults
        )

    def _is_exit(self, line: Line) -> bool:
        """Whether a handler ended its process here, at its first attempt, while acknowledgements were still to be sent."""
        what = self._published.get(line.origin)
        return line.word is Word.START and line.attempt == 1 and what is not None and what.do == "exit"

    def _exit(self, line: Line) -> Fault:
        """The end of a process as it began; that it is dead is noticed later."""
        deaths = [fault.end for fault in self._faults if fault.kind == "death" and fault.pid == line.pid]
        return Fault("exit", line.time, max([line.time, *deaths]), line.pid)

    def _collect(self) -> dict[str, list[Run]]:
        deaths = {fault.pid: fault.end for fault in self._faults if fault.kind == "death"}
        begun: dict[tuple[int, str, str, int], Line] = {}
        runs: dict[str, list[Run]] = defaultdict(list)
        for line in self._lines:
            # A retry may have the ID of an entry that is somebody else's in the stream itself.
            mine = (line.pid, line.origin, line.entry, line.attempt)
            if line.word is Word.START:
                begun[mine] = line
            elif line.word in (Word.DONE, Word.FAILED):
                start = begun.pop(mine)
                runs[line.origin].append(_run(start, line.time, done=line.word is Word.DONE))
        self._died = bool(begun)
        for line in begun.values():
            # It never came to its end: its process died.
            runs[line.origin].append(_run(line, deaths.get(line.pid, line.time), done=False))
        return runs

    def _say(self, problem: str) -> None:
        self.problems.append(problem)


def _run(start: Line, end: float, *, done: bool) -> Run:
    return Run(start.origin, start.entry, start.pid, start.attempt, start.time, end, done)


def _gap(line: Line) -> Fault:
    return Fault("gap", float(line.origin), line.time, line.pid)
