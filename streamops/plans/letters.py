"""What plans say about letters of a dead-letter queue."""

from collections.abc import Iterator

from streamops.model.dead_letters import DeadLetter, Fields
from streamops.model.selections import SelectedLetters
from streamops.model.wording import counted

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
