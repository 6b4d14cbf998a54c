"""What planners share: the plan itself, digests of evidence, warnings about many groups, lines about what is selected."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import fields

from streamops.model.acting import Impact, OperationIntent, Plan, StreamIdentity
from streamops.model.dead_letters import DeadLetter, Fields
from streamops.model.effects import LAG_UNKNOWN, REASONS, UNTOUCHED, Effect, Said, sentences
from streamops.model.entries import PendingEntry
from streamops.model.fields import FieldKind, intent_fields
from streamops.model.selections import SelectedDeadLetters
from streamops.model.wording import counted, idleness
from streamops.operations.commands import equivalent_command

CONSUMER_UNIT: Final[tuple[str, str]] = ("consumer", "consumers")
ENTRY_UNIT: Final[tuple[str, str]] = ("entry", "entries")
GROUP_UNIT: Final[tuple[str, str]] = ("group", "groups")
DEAD_LETTER_UNIT: Final[tuple[str, str]] = ("dead letter", "dead letters")
PENDING_UNIT: Final[tuple[str, str]] = ("pending entry", "pending entries")


def planned(
    intent: OperationIntent,
    count: int,
    *,
    target: str = "",
    impact: Impact | None = None,
    unit: tuple[str, str] = ENTRY_UNIT,
    sample: Iterable[str] = (),
    effects: Iterable[Said] = (),
    warnings: Iterable[Said] = (),
    loses: Iterable[Said] = (),
    held_back_by: Said = None,
    facts: Iterable[Effect | None] = (),
    undo: str = "",
    opposite: str = "",
    command: str = "",
    confirm: str = "",
    recurring: bool = False,
) -> Plan:
    """A plan: what is planned, with what an intent says of every plan for it.

    Args:
        intent: What is asked for.
        count: How many units it acts on.
        target: What it acts on; the names that are asked for unless given.
        impact: How much it changes; as the operation does unless given.
        unit: What is counted.
        sample: Lines about the units; the first few are kept.
        effects: What happens.
        warnings: What to think about first.
        loses: What is lost for good.
        held_back_by: What keeps it from doing all of it.
        facts: Those that other facts' sentences say.
        undo: What ``undo`` does about it.
        opposite: The command line that sets it back.
        command: The equivalent command line; derived unless given.
        confirm: What has to be typed; the target unless given.
        recurring: Whether it goes on until it is stopped.
    """
    target = target or target_of(intent)
    parts = [tuple(part) for part in (effects, warnings, loses, (held_back_by,), facts)]
    said, warned, lost, held = map(sentences, parts[:4])
    return Plan(
        operation=intent.operation,
        target=target,
        impact=intent.impact if impact is None else impact,
        count=count,
        unit=unit,
        sample=tuple(islice(sample, SAMPLE)),
        effects=said,
        warnings=warned,
        loses=" ".join(lost),
        held_back_by=" ".join(held),
        facts=tuple(one for part in parts for one in part if isinstance(one, Effect)),
        undo=undo,
        opposite=opposite,
        command=command or equivalent_command(intent.operation, intent),
        confirm=confirm or target,
        recurring=recurring,
    )


def target_of(intent: OperationIntent) -> str:
    """What an intent names: ``orders/billing``."""
    fields = intent_fields(type(intent))
    names = [field.name for field in fields if field.argument and field.kind is FieldKind.TEXT]
    return "/".join(getattr(intent, name) for name in names)


SAMPLE = 10
"""Lines of a plan's sample."""


def row_line(row: PendingEntry, *, owned: bool = True, idle: bool = True) -> str:
    """A pending entry in one line."""
    parts = [f"owned by {row.consumer}"] if owned else []
    parts += [idleness(row)] if idle else []
    return f"{row.id} {', '.join((*parts, times(row)))}"


def times(row: PendingEntry) -> str:
    """How often it was delivered."""
    return f"delivered {counted(row.delivery_count, 'time', 'times')}"


def untouched(groups: Sequence[str]) -> Effect | None:
    """The stream's other groups."""
    return UNTOUCHED(len(groups), names=groups)


def fingerprint(intent: object, evidence: object) -> str:
    """A digest of what is asked and what was found: twelve hexadecimal digits. Plans of the same do the same.

    Of the evidence, what changes by itself is left out: times, which server and stream it is (the engine compares those
    itself), and fields that are ``Passing``.
    """
    return sha256(f"{intent!r}{_lasting(evidence)!r}".encode("utf-8", "backslashreplace")).hexdigest()[:12]


def _lasting(value: object) -> object:
    match value:
        case datetime() | timedelta() | StreamIdentity():
            return ""
        case Struct():
            return [_lasting(getattr(value, name)) for name in _lasting_fields(type(value))]
        case tuple() | list():
            return [_lasting(one) for one in value]
        case frozenset():
            return sorted(map(str, value))
        case Mapping():
            return [(repr(key), _lasting(one)) for key, one in value.items()]
    return value


@lru_cache(maxsize=128)
def _lasting_fields(kind: type[Struct]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if "passing" not in get_args(one.type))


ONE_A_MILLISECOND: Final = 700
"""Groups looked at in a millisecond by a script that asks for the position of one of them."""

ALL_A_MILLISECOND: Final = 550
"""The same where all positions are compared with those of a plan."""

NEEDS_A_MILLISECOND: Final = 220
"""The same where their oldest pending entries are asked for too."""

LONG: Final = 10
"""Milliseconds that a script is to hold the server for at most."""


def many_groups_warnings(groups: int, a_millisecond: int, stream: str = "") -> tuple[str, ...]:
    """What to know of a stream with so many groups that a script cannot look at them within its time.

    Args:
        groups: How many it has.
        a_millisecond: How many of them are looked at in a millisecond.
        stream: Its name, if it is not the one that the plan is about.
    """
    if groups < LONG * a_millisecond:
        return ()
    whose = f"Stream {stream}" if stream else "The stream"
    looks = f"{whose} has {groups:,} groups, and each step looks at all of them"
    return (f"{looks}: it holds the server for about {groups // a_millisecond} ms.",)


SHOWN_FIELDS = 4
SHOWN_BYTES = 40


def dead_letter_line(letter: DeadLetter) -> str:
    """A letter in one line: its ID, why it died, whose it was, and its first fields."""
    about = [letter.reason or "no reason"]
    if letter.group:
        about.append(f"group {letter.group}")
    if letter.attempt is not None and letter.attempt > (letter.deliveries or 0):
        about.append(f"tried {counted(letter.attempt, 'time', 'times')}")
    elif letter.deliveries is not None:
        about.append(f"delivered {counted(letter.deliveries, 'time', 'times')}")
    if letter.replays:
        about.append(f"replayed {counted(letter.replays, 'time', 'times')} before")
    if letter.problem:
        about.append(letter.problem)
    return f"{letter.id} ({', '.join(about)}): {' '.join(_preview(letter.fields))}"


def dead_letter_counts(letters: SelectedDeadLetters) -> Effect | None:
    """What they died of, and how far that is known."""
    tally = letters.tally
    known = "" if tally.letters >= letters.count else f", by the first {tally.letters:,}"
    return REASONS(
        tally.letters, known, names=[(reason or "none given", number) for reason, number in tally.reasons]
    )


def queue_warnings(letters: SelectedDeadLetters) -> Iterator[Effect | None]:
    """What deleting from the queue does to groups that read it."""
    for group, pending in letters.groups:
        waiting = f", which has {counted(pending, 'dead letter', 'dead letters')} pending," if pending else ""
        yield LAG_UNKNOWN(pending, waiting, group=group)


def gone_meanwhile(letters: int) -> str:
    """What an outcome says of letters that the plan counted and that were not met."""
    gone = "was" if letters == 1 else "were"
    return f"{letters:,} of the dead letters planned {gone} gone: replayed or deleted since the plan."


def _preview(fields: Fields) -> Iterator[str]:
    for name, value in fields[:SHOWN_FIELDS]:
        yield f"{_shown(name)}={_shown(value)}"
    if len(fields) > SHOWN_FIELDS:
        yield f"and {counted(len(fields) - SHOWN_FIELDS, 'field', 'fields')} more"


def _shown(value: bytes) -> str:
    text = value[:SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return text if len(value) <= SHOWN_BYTES else f"{text}…"
