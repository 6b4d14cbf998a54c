"""The books of a history: who began what, who did it, who died when.

Handlers write each line in one call with O_APPEND, so that no kill can take one back. Whoever publishes writes down
what the server confirmed. Nothing of this goes through what is tested.
"""

import os
import time
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

PROMPT = 1.0
"""Seconds within which a living worker on a healthy network has beaten, and its acknowledgements confirmed."""


class Word(StrEnum):
    """What a line tells."""

    START = "start"
    EFFECT = "effect"
    DONE = "done"
    FAILED = "failed"
    GAP = "gap"
    """Its process did not run for a while: it was stopped, or the machine was busy."""
    STEP = "step"
    """An entry of its process went from one state to another, the first one that did."""


class Line(NamedTuple):
    """One line that a handler wrote."""

    time: float
    word: Word
    pid: int
    origin: str = ""
    entry: str = ""
    attempt: int = 0
    key: str = ""


class Ledger:
    """The book that all handlers write."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, word: Word, *parts: object) -> None:
        """Write a line."""
        line = " ".join(map(str, (time.monotonic(), word, os.getpid(), *parts)))
        os.write(self._file, f"{line}\n".encode())


def read(path: Path) -> list[Line]:
    """What was written, in its order."""
    lines = []
    for text in path.read_text().splitlines() if path.exists() else ():
        at, word, pid, *parts = text.split(" ")
        if word == Word.GAP:
            lines.append(Line(float(at), Word.GAP, int(pid), parts[0]))
        elif word == Word.STEP:
            lines.append(Line(float(at), Word.STEP, int(pid), parts[0], parts[1]))
        else:
            origin, entry, attempt, key = parts
            lines.append(Line(float(at), Word(word), int(pid), origin, entry, int(attempt), key))
    return lines


class Fault(NamedTuple):
    """What was done to a process, or to all of them where it has none, from when to when."""

    kind: str
    start: float
    end: float
    pid: int = 0


class Run(NamedTuple):
    """One run of a handler."""

    origin: str
    entry: str
    pid: int
    attempt: int
    start: float
    end: float
    done: bool


class Published(NamedTuple):
    """What was published, and confirmed.

    Attributes:
        do: What its handler does.
        key: Its business key.
    """

    do: str
    key: str


class Probe(NamedTuple):
    """What was published right after a fault.

    Attributes:
        kind: The fault.
        time: When it was over.
    """

    kind: str
    time: float


class FoundDeadLetter(NamedTuple):
    """A dead letter."""

    origin: str
    reason: str
    attempt: int
    key: str


def timeline(lines: Iterable[Line], faults: Iterable[Fault], origin: str) -> Iterator[str]:
    """What happened to one entry, between what was done to processes."""
    events = [
        (line.time, f"{line.word} {line.entry} attempt {line.attempt} in {line.pid}")
        for line in lines
        if line.origin == origin
    ]
    events += [
        (fault.start, f"  {fault.kind} {fault.pid or 'all'} until {fault.end:.3f}") for fault in faults
    ]
    return (f"{at:.3f} {text}" for at, text in sorted(events))
