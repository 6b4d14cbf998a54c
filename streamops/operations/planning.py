"""What planners share: digests and samples of evidence, numbers in words, warnings about many groups, lines about dead letters."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import Final

from streamops.model.dead_letters import DeadLetter, Fields
from streamops.model.entries import Amount
from streamops.model.selections import SelectedLetters
from streamops.model.wording import counted

CONSUMER_UNIT: Final[tuple[str, str]] = ("consumer", "consumers")
ENTRY_UNIT: Final[tuple[str, str]] = ("entry", "entries")
GROUP_UNIT: Final[tuple[str, str]] = ("group", "groups")
PENDING_UNIT: Final[tuple[str, str]] = ("pending entry", "pending entries")


def amount(entries: Amount) -> str:
    """``1,200 entries``, or the bounds where they were not all counted."""
    if entries.exact:
        return entries_counted(entries)
    return f"between {entries.lower:,} and {entries.upper:,} entries (counting stopped there)"


def entries_counted(entries: Amount) -> str:
    """At most so many entries, in words."""
    return counted(entries.upper, "entry", "entries")


SAMPLE = 10
"""Lines of a plan's sample."""


def fingerprint(*evidence: object) -> str:
    """A digest of values whose ``repr`` says all of them: twelve hexadecimal digits."""
    return sha256(repr(evidence).encode()).hexdigest()[:12]


def sample(lines: Iterable[str]) -> tuple[str, ...]:
    """The first few lines."""
    return tuple(islice(lines, SAMPLE))


ONE_A_MILLISECOND: Final = 700
"""Groups looked at in a millisecond by a script that asks for the position of one of them."""

ALL_A_MILLISECOND: Final = 550
"""The same where all positions are compared with those of a plan."""

NEEDS_A_MILLISECOND: Final = 220
"""The same where their oldest pending entries are asked for too."""

LONG: Final = 10
"""Milliseconds that a script is to hold the server for at most."""


def crowd_warnings(groups: int, a_millisecond: int, stream: str = "") -> tuple[str, ...]:
    """What to know of a stream with so many groups that a script cannot look at them within its time.

    Args:
        groups: How many it has.
        a_millisecond: How many of them are looked at in a millisecond.
        stream: Its name, where it is not the one that the plan is about.
    """
    if groups < LONG * a_millisecond:
        return ()
    whose = f"Stream {stream}" if stream else "The stream"
    looks = f"{whose} has {groups:,} groups, and each step looks at all of them"
    return (f"{looks}: it holds the server for about {groups // a_millisecond} ms.",)


SHOWN_FIELDS = 4
SHOWN_BYTES = 40


def letter_line(letter: DeadLetter) -> str:
    """A letter in one line: its ID, why it died, whose it was, and its first fields."""
    about = [letter.reason or "no reason"]
    if letter.group:
        about.append(f"group {letter.group}")
    if letter.deliveries is not None:
        about.append(f"delivered {counted(letter.deliveries, 'time', 'times')}")
    if letter.replays:
        about.append(f"replayed {counted(letter.replays, 'time', 'times')} before")
    if letter.problem:
        about.append(letter.problem)
    return f"{letter.id} ({', '.join(about)}): {' '.join(_preview(letter.fields))}"


def letter_counts(letters: SelectedLetters) -> Iterator[str]:
    """What they died of, and how far that is known."""
    tally = letters.tally
    reasons = ", ".join(f"{reason or 'none given'} {number:,}" for reason, number in tally.reasons)
    known = "" if tally.letters >= letters.count else f", by the first {tally.letters:,}"
    yield f"Reasons{known}: {reasons}."


def queue_warnings(letters: SelectedLetters) -> Iterator[str]:
    """What deleting from the queue does to groups that read it."""
    for group, pending in letters.groups:
        waiting = f", which has {counted(pending, 'letter', 'letters')} pending," if pending else ""
        yield f"Group {group}{waiting} reads the queue itself: after letters leave it, its lag may not be known."


def absent_ids(letters: SelectedLetters) -> Iterator[str]:
    """How many of the IDs asked for there are not."""
    if letters.absent:
        yield f"{counted(letters.absent, 'ID is', 'IDs are')} not in the queue, and will be left out."


def gone_meanwhile(letters: int) -> str:
    """What an outcome says of letters that the plan counted and that were not met."""
    gone = "was" if letters == 1 else "were"
    return f"{letters:,} of the letters planned {gone} gone: replayed or deleted by somebody else."


def _preview(fields: Fields) -> Iterator[str]:
    for name, value in fields[:SHOWN_FIELDS]:
        yield f"{_shown(name)}={_shown(value)}"
    if len(fields) > SHOWN_FIELDS:
        yield f"and {counted(len(fields) - SHOWN_FIELDS, 'field', 'fields')} more"


def _shown(value: bytes) -> str:
    text = value[:SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return text if len(value) <= SHOWN_BYTES else f"{text}…"
