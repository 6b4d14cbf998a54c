"""Replaying dead letters: what the server says about them and where they go, and the plan."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.dead_letters import DeadLetter
from streamops.model.effects import (
    FOREIGN_ADDED,
    FOREIGN_LEFT,
    NOT_IN_QUEUE,
    NOT_REDELIVERABLE,
    PAYLOADS,
    PENDING_AGAIN,
    REDELIVERABLE,
    REPUBLISHED,
    REPUBLISHED_UNREAD,
    RETRIED,
    RETRIES_UNREAD,
    STRAY,
    UNCOUNTED,
    Effect,
    Said,
)
from streamops.model.entries import EntryId
from streamops.model.fields import Passing
from streamops.model.selections import SelectedDeadLetters
from streamops.model.wording import counted, quoted
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import (
    ALL_A_MILLISECOND,
    DEAD_LETTER_UNIT,
    dead_letter_counts,
    dead_letter_line,
    many_groups_warnings,
    planned,
    queue_warnings,
    untouched,
)
from streamops.operations.replay.intent import ReplayIntent, ReplayMode, ReplayRoute


class TargetStream(Struct, frozen=True):
    """A stream that letters go back to.

    Attributes:
        stream: Its name.
        groups: Its groups.
        exists: Whether it is there.
        positions: The positions of its groups, in their order.
    """

    stream: str
    groups: tuple[str, ...] = ()
    exists: bool = True
    positions: Passing[tuple[EntryId, ...]] = ()


class ForeignOrigin(Struct, frozen=True):
    """A stream that letters name, and that their queue does not serve.

    Attributes:
        stream: Its name.
        letters: How many of the letters counted name it.
        problem: Why they stay in the queue, to be read after the stream's name; empty if they go there.
        is_open: Whether they go there where the operator says so.
    """

    stream: str
    letters: int
    problem: str = ""
    is_open: bool = False


class Redeliverable(Struct, frozen=True):
    """Which letters have an entry that can be made pending again.

    Attributes:
        looked: How many letters were looked at, the oldest first.
        fit: How many of those have one.
        unfit: The others by reason, see ``NOT_REDELIVERABLE``: how many, and the first few.
    """

    looked: int
    fit: int
    unfit: tuple[tuple[str, int, tuple[EntryId, ...]], ...] = ()


class ReplayEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a replay.

    Attributes:
        identity: Which queue this is.
        letters: Which letters are meant.
        sample: The first few of them.
        targets: The streams that they go back to.
        routes: Where they go, by the mode that was requested or follows.
        mode: That mode.
        stray: How many of those counted no route takes.
        sources: The streams that the queue serves, by its name or the configuration.
        foreign: Other streams that letters name, how many letters, and why these stay; no reason where they go there.
        is_queue: Whether its name or the configuration says that it is a dead-letter queue; where not, no group may
            come to miss what is taken out.
        redelivery: Whether their entries are still there, if they are to be redelivered; None if that may not be read.
        unread: Keys of retry streams, with their groups, that no living consumer reads.
    """

    identity: StreamIdentity
    letters: SelectedDeadLetters
    sample: tuple[DeadLetter, ...] = ()
    targets: tuple[TargetStream, ...] = ()
    routes: tuple[ReplayRoute, ...] = ()
    mode: ReplayMode | None = None
    stray: int = 0
    sources: tuple[str, ...] = ()
    foreign: tuple[ForeignOrigin, ...] = ()
    is_queue: bool = True
    redelivery: Redeliverable | None = None
    unread: Passing[tuple[tuple[str, str], ...]] = ()


def plan_replay(intent: ReplayIntent, evidence: ReplayEvidence) -> Plan:
    """Hand the entries of letters on, and take the letters out of their queue."""
    letters, redelivery = evidence.letters, evidence.redelivery
    all_unfit = redelivery is not None and not redelivery.fit and redelivery.looked >= letters.count
    return planned(
        intent,
        0 if all_unfit else letters.count,
        unit=DEAD_LETTER_UNIT,
        sample=map(dead_letter_line, evidence.sample),
        effects=_effects(intent, evidence) if letters.count and not all_unfit else (),
        warnings=[
            NOT_IN_QUEUE(letters.absent),
            *(_warnings(intent, evidence) if letters.count else [_unknown_reason(intent)]),
        ],
        command=equivalent_command(intent.operation, replace(intent, mode=evidence.mode)),
    )


def _unknown_reason(intent: ReplayIntent) -> Said:
    """That no dead letter has the requested reason; it may be a typing error."""
    if intent.because is None or intent.where is not None or intent.ids:
        return None
    return f"No dead letter has the reason {intent.because}: `streamops dlq show` counts the reasons."


ORIGIN: Final = "Each entry carries _so_origin_id, its original ID, if its dead letter names it."
RETRY_ORIGIN: Final = (
    "Each entry carries _so_origin, _so_group, _so_attempt, and _so_origin_id: its original ID, "
    "or its dead letter's where that is not known."
)
REPLAY_OF: Final = "It also carries _so_replay_of, its dead letter's ID, once per replay, to find it by."


def _effects(intent: ReplayIntent, evidence: ReplayEvidence) -> Iterator[Said]:
    mode, taken = evidence.mode, list(_taken(evidence))
    yield dead_letter_counts(evidence.letters)
    if mode is ReplayMode.REDELIVER:
        yield _redeliverable(evidence)
        for home, group in dict.fromkeys((route.home, route.to_group) for route in taken):
            yield PENDING_AGAIN(None, home, group=group)
        yield _others(evidence, taken)
        if evidence.redelivery is None or evidence.redelivery.looked < evidence.letters.count:
            yield "Dead letters whose entries are gone from the stream, pending or not read yet are skipped."
    elif mode is ReplayMode.RETRY:
        for key, group in dict.fromkeys((route.key, route.to_group) for route in taken):
            yield RETRIED(None, key, group=group)
        yield _others(evidence, taken)
        yield RETRY_ORIGIN
        yield REPLAY_OF
    else:
        for target in evidence.targets:
            many = "delivered to its groups" if len(target.groups) > 1 else "delivered to its group"
            row = REPUBLISHED if target.groups else REPUBLISHED_UNREAD
            yield row(None, target.stream, many, names=target.groups)
        yield ORIGIN
        yield REPLAY_OF
    if intent.edit:
        names = ", ".join(name.decode("utf-8", "backslashreplace") for name, _ in intent.edit)
        yield f"Edited in every entry: {names}."
    yield PAYLOADS(evidence.letters.tally.payloads)
    yield _moves(evidence)


def _redeliverable(evidence: ReplayEvidence) -> Effect | None:
    """How many of the letters have their entry still, as far as they were looked at."""
    if (found := evidence.redelivery) is None:
        return None
    every = "the first " if found.looked < evidence.letters.count else ""
    return REDELIVERABLE(found.fit, f"{every}{counted(found.looked, *DEAD_LETTER_UNIT)}")


def _unfit(found: Redeliverable) -> Iterator[Effect | None]:
    """Which letters cannot be redelivered, and what can be done with those whose entries are gone."""
    for why, count, few in found.unfit:
        anew = (
            " --mode retry or republish adds a new entry." if why in {"entry-gone", "entry-unknown"} else ""
        )
        yield NOT_REDELIVERABLE[why](count, anew, names=map(str, few))


def _others(evidence: ReplayEvidence, taken: list[ReplayRoute]) -> Effect | None:
    reached = {(route.home, route.to_group) for route in taken}
    return untouched(
        [
            f"{group} of {target.stream}"
            for target in evidence.targets
            for group in target.groups
            if (target.stream, group) not in reached
        ]
    )


def _taken(evidence: ReplayEvidence) -> Iterator[ReplayRoute]:
    """The routes that letters take, as far as they were counted."""
    kinds = {(kind.stream, kind.group) for kind, _ in evidence.letters.tally.kinds}
    groups = {group for _, group in kinds}
    for route in evidence.routes:
        if (route.stream, route.group) in kinds or (not route.stream and route.group in groups):
            yield route


def _moves(evidence: ReplayEvidence) -> str:
    if all(route.atomic for route in evidence.routes):
        return "Each entry is added and its dead letter deleted in one step inside the server (atomic)."
    homes = ", ".join(sorted({route.home for route in evidence.routes if not route.atomic}))
    return (
        f"The queue and {homes} are in different hash slots: each entry is replayed effectively once, "
        "by markers that are kept 7 days, and its dead letter deleted after that."
    )


def _foreign(origin: ForeignOrigin) -> Effect | None:
    """What becomes of letters that name a stream which their queue does not serve."""
    stream, way = quoted(origin.stream), "; --foreign-origins replays them there" if origin.is_open else ""
    if not origin.problem:
        return FOREIGN_ADDED(origin.letters, stream, names=[origin.stream])
    return FOREIGN_LEFT(origin.letters, stream, origin.problem, way, names=[origin.stream])


def _added_fields(intent: ReplayIntent, evidence: ReplayEvidence) -> Said:
    """That --edit names fields which none of the entries that were looked at has, as those inside a JSON body."""
    there = {name for letter in evidence.sample for name, _ in letter.fields}
    new = [name.decode("utf-8", "backslashreplace") for name, _ in intent.edit if name not in there]
    if not new or not evidence.sample:
        return None
    has = ", ".join(sorted(name.decode("utf-8", "backslashreplace") for name in there))
    looked = f"Of the {counted(len(evidence.sample), 'entry', 'entries')} looked at"
    return f"{looked}, none has a field {' or '.join(new)}: --edit adds it. Fields there: {has}."


def _warnings(intent: ReplayIntent, evidence: ReplayEvidence) -> Iterator[Said]:
    letters = evidence.letters
    for target in evidence.targets:
        if not target.exists:
            yield f"Stream {target.stream} does not exist: it will be created."
        yield from many_groups_warnings(len(target.groups), ALL_A_MILLISECOND, target.stream)
    yield _added_fields(intent, evidence)
    if evidence.redelivery is not None:
        yield from _unfit(evidence.redelivery)
    reached = {(route.key, route.to_group) for route in _taken(evidence)}
    yield from (
        RETRIES_UNREAD(None, key, group=group) for key, group in evidence.unread if (key, group) in reached
    )
    yield from map(_foreign, evidence.foreign)
    yield STRAY(evidence.stray)
    if letters.tally.letters < letters.count:
        yield UNCOUNTED(letters.count - letters.tally.letters, f"{letters.tally.letters:,}")
    if letters.source is None:
        yield f"Neither its name nor the configuration says that {intent.queue} is a dead-letter queue."
    if not all(route.atomic for route in evidence.routes):
        yield "A dead letter that is restored under its old ID within those 7 days counts as replayed."
    yield from queue_warnings(letters)
