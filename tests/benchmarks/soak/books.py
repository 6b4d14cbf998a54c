"""The books of a soak: what was published, what was done, what was given up; and whether that adds up.

Every event has a number of its own, which it keeps when it is tried again, dies or is replayed. Handlers write each
line in one call with O_APPEND, so that no kill can take one back. Nothing of this goes through what is tested.
"""

import os
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct


class Word(StrEnum):
    """What a line tells of one run of a handler."""

    BEGUN = "begun"
    DONE = "done"
    RAISED = "raised"


class Line(NamedTuple):
    """One line."""

    word: Word
    pid: int
    number: int


class Book:
    """The book that all handlers write."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, word: Word, number: int) -> None:
        """Write a line."""
        os.write(self._file, f"{word} {os.getpid()} {number}\n".encode())


def read(path: Path) -> list[Line]:
    """What was written, in its order."""
    if not path.exists():
        return []
    rows = (line.split(" ") for line in path.read_text().splitlines())
    return [Line(Word(word), int(pid), int(number)) for word, pid, number in rows]


class Published(Struct):
    """What was published.

    Attributes:
        confirmed: Events that the server confirmed.
        doubtful: Events of which nobody was told whether they were added.
        delayed: How many of both were delayed messages.
    """

    confirmed: set[int] = set()
    doubtful: set[int] = set()
    delayed: int = 0


class Balance(Struct, frozen=True):
    """Where every event is in the end; each is counted once, by the first of these that holds.

    Attributes:
        confirmed: Events that were confirmed.
        arrived: Events that were not, and were added all the same.
        done: Handled to the end.
        dead: In the dead-letter queue.
        purged: In the file of a purge.
        again: Handled to the end more than once.
        lost: Confirmed, and nowhere.
        invented: Somewhere, and never published.
        both: Handled to the end by one worker, and given up.
    """

    confirmed: int
    arrived: int
    done: int
    dead: int
    purged: int
    again: int
    lost: tuple[int, ...]
    invented: tuple[int, ...]
    both: int

    @property
    def adds_up(self) -> bool:
        """Whether every event is accounted for."""
        settled = self.done + self.dead + self.purged
        return not self.lost and not self.invented and self.confirmed + self.arrived == settled


def balance(
    published: Published, lines: Iterable[Line], letters: AbstractSet[int], purged: AbstractSet[int]
) -> Balance:
    """Balance the books of a soak in which nothing is left to do.

    Args:
        published: What was published.
        lines: What handlers wrote.
        letters: Events in the dead-letter queue.
        purged: Events in the files of purges.
    """
    ends = Counter(line.number for line in lines if line.word is Word.DONE)
    done = set(ends)
    dead = letters - done
    gone = purged - done - dead
    settled = done | dead | gone
    return Balance(
        confirmed=len(published.confirmed),
        arrived=len(published.doubtful & settled),
        done=len(done & (published.confirmed | published.doubtful)),
        dead=len(dead),
        purged=len(gone),
        again=sum(1 for times in ends.values() if times > 1),
        lost=tuple(sorted(published.confirmed - settled)),
        invented=tuple(sorted(settled - published.confirmed - published.doubtful)),
        both=len(done & (letters | purged)),
    )


def runs_of(lines: Iterable[Line], pid: int) -> tuple[int, int]:
    """How many runs one process ended, and how many of them raised."""
    words = Counter(line.word for line in lines if line.pid == pid)
    return words[Word.DONE] + words[Word.RAISED], words[Word.RAISED]
