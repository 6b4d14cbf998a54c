"""Replaying dead letters: what the server says about them and where they go, and the plan."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.dead_letters import DeadLetter
from streamops.model.selections import SelectedLetters
from streamops.model.wording import counted, first_few, quoted
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import (
    ALL_A_MILLISECOND,
    absent_ids,
    crowd_warnings,
    fingerprint,
    letter_counts,
    letter_line,
    queue_warnings,
    sample,
)
from streamops.operations.replay.intent import ReplayIntent, ReplayMode, Route


class TargetStream(Struct, frozen=True):
    """A stream that letters go back to.

    Attributes:
        stream: Its name.
        groups: Its groups.
        exists: Whether it is there.
    """

    stream: str
    groups: tuple[str, ...] = ()
    exists: bool = True


class ForeignOrigin(Struct, frozen=True):
    """A stream that letters name, and that their queue does not serve.

    Attributes:
        stream: Its name.
        letters: How many of the letters counted name it.
        problem: Why they stay in the queue, to be read after the stream's name; empty where they go there.
        is_open: Whether they go there where the operator says so.
    """

    stream: str
    letters: int
    problem: str = ""
    is_open: bool = False


class ReplayEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a replay.

    Attributes:
        identity: Which queue this is.
        letters: Which letters are meant.
        sample: The first few of them.
        targets: The streams that they go back to.
        routes: Where they go, by the mode that was asked for or follows.
        mode: That mode.
        stray: How many of those counted no route takes.
        sources: The streams that the queue serves, by its name or the configuration.
        foreign: Other streams that letters name, how many letters, and why these stay; no reason where they go there.
        is_queue: Whether its name or the configuration says that it is a dead-letter queue; where not, no group may
            come to miss what is taken out.
    """

    identity: Identity
    letters: SelectedLetters
    sample: tuple[DeadLetter, ...] = ()
    targets: tuple[TargetStream, ...] = ()
    routes: tuple[Route, ...] = ()
    mode: ReplayMode | None = None
    stray: int = 0
    sources: tuple[str, ...] = ()
    foreign: tuple[ForeignOrigin, ...] = ()
    is_queue: bool = True


def plan_replay(intent: ReplayIntent, evidence: ReplayEvidence) -> Plan:
    """Hand the entries of letters on, and take the letters out of their queue."""
    letters = evidence.letters
    return Plan(
        operation="replay",
        target=intent.queue,
        impact=Impact.REDELIVERS,
        count=letters.count,
        unit=("letter", "letters"),
        sample=sample(map(letter_line, evidence.sample)),
        effects=tuple(_effects(intent, evidence)) if letters.count else (),
        command=equivalent_command("replay", replace(intent, mode=evidence.mode)),
        confirm=intent.queue,
        warnings=(*absent_ids(letters), *(_warnings(intent, evidence) if letters.count else ())),
        fingerprint=fingerprint(
            evidence.mode, evidence.targets, evidence.routes, letters.count, letters.after, letters.last
        ),
    )


def _effects(intent: ReplayIntent, evidence: ReplayEvidence) -> Iterator[str]:
    yield from letter_counts(evidence.letters)
    match evidence.mode:
        case ReplayMode.REDELIVER:
            yield from _redelivered(evidence)
        case ReplayMode.RETRY:
            yield from _retried(evidence)
        case _:
            yield from map(_republished, evidence.targets)
    yield from _carried(evidence.mode)
    if intent.edit:
        names = ", ".join(name.decode("utf-8", "backslashreplace") for name, _ in intent.edit)
        yield f"Edited in every entry: {names}."
    if payloads := evidence.letters.tally.payloads:
        yield (
            f"{counted(payloads, 'letter refers', 'letters refer')} to a payload kept beside the stream: "
            "it must still be there, and is kept for 7 days from then."
        )
    yield from _moves(evidence)


def _carried(mode: ReplayMode | None) -> Iterator[str]:
    """What is added to an entry's own fields."""
    if mode is ReplayMode.REDELIVER:
        return
    if mode is ReplayMode.RETRY:
        yield (
            "Each entry carries _so_origin, _so_group, _so_attempt, and _so_origin_id: the ID that it was born with, "
            "or its letter's where that is not known."
        )
    else:
        yield "Each entry carries _so_origin_id, the ID that it was born with, where its letter tells it."
    yield "It also carries _so_replay_of, its letter's ID, once for every replay: by that it can be found."


def _republished(target: TargetStream) -> str:
    added = f"Entries are added to stream {target.stream}, with new IDs and their own fields in order"
    if not target.groups:
        return f"{added}; no group reads it yet."
    many = "its groups get" if len(target.groups) > 1 else "its group gets"
    return f"{added}; {many} them: {first_few(target.groups)}."


def _redelivered(evidence: ReplayEvidence) -> Iterator[str]:
    for home, group in dict.fromkeys((route.home, route.to_group) for route in _taken(evidence)):
        yield (
            f"Entries of stream {home} become pending again for group {group}, owned by __replay__ and idle for "
            "30 days: the first of its consumers that claims (XAUTOCLAIM) gets them."
        )
    yield from _untouched(evidence)
    yield "Letters whose entries are gone from the stream, pending or not read yet are skipped."


def _retried(evidence: ReplayEvidence) -> Iterator[str]:
    for key, group in dict.fromkeys((route.key, route.to_group) for route in _taken(evidence)):
        yield f"Entries are added to {key}, which group {group} alone reads."
    yield from _untouched(evidence)


def _untouched(evidence: ReplayEvidence) -> Iterator[str]:
    taken = {(route.home, route.to_group) for route in _taken(evidence)}
    others = [
        f"{group} of {target.stream}"
        for target in evidence.targets
        for group in target.groups
        if (target.stream, group) not in taken
    ]
    if others:
        yield f"Other groups are not touched: {first_few(others)}."


def _taken(evidence: ReplayEvidence) -> Iterator[Route]:
    """The routes that letters take, as far as they were counted."""
    kinds = {(kind.stream, kind.group) for kind, _ in evidence.letters.tally.kinds}
    groups = {group for _, group in kinds}
    for route in evidence.routes:
        if (route.stream, route.group) in kinds or (not route.stream and route.group in groups):
            yield route


def _moves(evidence: ReplayEvidence) -> Iterator[str]:
    if all(route.atomic for route in evidence.routes):
        yield "Each entry is handed on and its letter deleted in one step inside the server (atomic)."
        return
    homes = ", ".join(sorted({route.home for route in evidence.routes if not route.atomic}))
    yield (
        f"The queue and {homes} are in different hash slots: each entry is handed on effectively once, "
        "by markers that are kept 7 days, and its letter deleted after that."
    )


def _foreign(origin: ForeignOrigin) -> str:
    """What becomes of letters that name a stream which their queue does not serve."""
    many = counted(origin.letters, "letter names", "letters name")
    stream = quoted(origin.stream)
    if not origin.problem:
        return (
            f"{many} stream {stream}, which is not the queue's own: added there all the same, as you asked."
        )
    way = "; --foreign-origins replays them there" if origin.is_open else ""
    return f"{many} stream {stream}, which {origin.problem}: left in the queue{way}."


def _warnings(intent: ReplayIntent, evidence: ReplayEvidence) -> Iterator[str]:
    letters = evidence.letters
    for target in evidence.targets:
        if not target.exists:
            yield f"Stream {target.stream} does not exist: it will be created."
        yield from crowd_warnings(len(target.groups), ALL_A_MILLISECOND, target.stream)
    for one in evidence.foreign:
        yield _foreign(one)
    if evidence.stray:
        yield (
            f"{counted(evidence.stray, 'letter is', 'letters are')} of a stream or group that is not there: skipped."
        )
    if letters.tally.letters < letters.count:
        yield (
            f"Streams and groups are those of the first {letters.tally.letters:,} letters; "
            "letters of others are skipped."
        )
    if letters.source is None:
        yield f"Neither its name nor the configuration says that {intent.queue} is a dead-letter queue."
    if not all(route.atomic for route in evidence.routes):
        yield "A letter that is put back under its old ID within those 7 days counts as handed on."
    yield from queue_warnings(letters)
