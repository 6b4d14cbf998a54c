"""Which dead letters a replay takes and where they go: the streams they came from, their groups, and the keys to write to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final, NamedTuple

from msgspec.structs import replace

from streamops.errors import Forbidden, Refused, ServerError, SettingsError
from streamops.model.authority import StreamPart, is_part_of
from streamops.model.dead_letters import DeadLetter
from streamops.model.entries import EntryId
from streamops.model.selections import SelectedDeadLetters
from streamops.model.streams import Consumer, Mode, StreamReading
from streamops.model.wording import command, counted, first_few
from streamops.monitor.context import ServerContext
from streamops.monitor.dead_letters import DeadLetterFilter, chosen_dead_letters, survey_dead_letters
from streamops.monitor.inspection import find_stream
from streamops.operations.replay.intent import ReplayIntent, ReplayMode, ReplayRoute
from streamops.operations.replay.plan import ForeignOrigin, Redeliverable, ReplayEvidence, TargetStream
from streamops.wire.consuming.heartbeats import WORKER_PREFIX, alive
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.keys import is_own_key, require_one_slot, retry_key, same_slot
from streamops.wire.pending import read_pending_by_id
from streamops.wire.reads import read_consumers, read_existing
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader

MOST_STREAMS: Final = 32
"""Streams that the letters of one replay may come from."""

MISSING: Final = "does not exist"
FOREIGN: Final = "is not the queue's own"


class ReplayDestinations(NamedTuple):
    """Where letters go back to.

    Attributes:
        streams: The streams, with their groups.
        foreign: Those that letters name though their queue does not serve them, whether letters go there or not.
    """

    streams: tuple[TargetStream, ...]
    foreign: tuple[ForeignOrigin, ...] = ()


async def read_targets(
    server: Server, intent: ReplayIntent, letters: SelectedDeadLetters, sources: Sequence[str]
) -> ReplayDestinations:
    """The streams that the letters go back to, with their groups.

    Letters say themselves where they came from, and whoever may write to the queue writes letters: they go to the
    streams that the queue serves, and further only on the operator's word.

    Raises:
        Forbidden: None of them can be replayed to where it came from, or there are too many such streams.
        SettingsError: Nothing says which.
        ServerError: One cannot be read.
    """
    if intent.to is not None:
        return ReplayDestinations((await _read_named(server, intent.to),))
    named: Counter[str] = Counter()
    for kind, number in letters.tally.kinds:
        named[kind.stream] += number
    del named[""]
    if letters.count and not named:
        raise SettingsError(
            f"queue {intent.queue}: its dead letters and its name do not say which stream they came from",
            "Name the target with --to STREAM.",
        )
    own = {name for name in named if any(is_part_of(name, one, StreamPart.STREAM) for one in sources)}
    problems = {name: "" if name in own else _foreign_problem(intent, name) for name in sorted(named)}
    going = [name for name, problem in problems.items() if not problem]
    if len(going) > MOST_STREAMS:
        raise Forbidden(
            f"queue {intent.queue}: its dead letters came from more than {MOST_STREAMS} streams",
            "Narrow the selection with --where, or name the target with --to STREAM.",
        )
    targets = []
    for name, target in (await _read(server, going)).items():
        if isinstance(target, TargetStream):
            targets.append(target)
        elif target.kind is FaultKind.MISSING:
            problems[name] = MISSING
        elif name in own:
            raise target.error(f"stream {name}")
        else:
            problems[name] = f"cannot be read: {target.reason}"
    if problems and not targets:
        raise _nowhere(intent, problems)
    left = own & {name for name, problem in problems.items() if not problem}
    return ReplayDestinations(
        tuple(targets),
        tuple(
            ForeignOrigin(name, named[name], problem, problem == FOREIGN)
            for name, problem in problems.items()
            if name not in left
        ),
    )


async def _read_named(server: Server, stream: str) -> TargetStream:
    """A stream that the operator named, whether it exists or not."""
    look = await find_stream(server, stream)
    if look is None:
        return TargetStream(stream, exists=False)
    return _target(look.reading)


async def _read(server: Server, streams: Sequence[str]) -> dict[str, TargetStream | Fault]:
    readings = (await StreamReader(server).read(streams)).streams if streams else ()
    return {
        stream: reading if isinstance(reading, Fault) else _target(reading)
        for stream, reading in zip(streams, readings, strict=True)
    }


def _target(reading: StreamReading) -> TargetStream:
    groups = reading.groups
    return TargetStream(
        reading.name,
        tuple(group.name for group in groups),
        positions=tuple(group.last_delivered_id for group in groups),
    )


def _foreign_problem(intent: ReplayIntent, stream: str) -> str:
    """Why letters that name a stream which their queue does not serve stay where they are; empty if they go."""
    if stream == intent.queue:
        return "is the queue itself"
    if is_own_key(stream):
        return "is reserved for streamops"
    return "" if intent.foreign_origins else FOREIGN


def _nowhere(intent: ReplayIntent, problems: Mapping[str, str]) -> Forbidden:
    """Why no letter can be replayed to where it says it came from."""
    (stream, problem), *others = problems.items()
    more = f"; and {counted(len(others), 'other', 'others')} that cannot be either" if others else ""
    hint = "--foreign-origins replays them there; " if FOREIGN in problems.values() else ""
    return Forbidden(
        f"queue {intent.queue}: no dead letter can be replayed to where it came from: stream {stream} {problem}{more}",
        f"{hint}--to STREAM replays them to one stream, and creates it.",
    )


def choose_mode(intent: ReplayIntent, targets: Sequence[TargetStream]) -> ReplayMode:
    """The mode that was asked for, or follows; raises ``SettingsError`` if one has to be asked for."""
    if intent.mode is not None:
        return intent.mode
    for target in targets:
        if len(target.groups) > 1:
            raise SettingsError(
                f"--mode is needed: stream {target.stream} has {len(target.groups)} groups: {first_few(target.groups)}",
                "--mode republish adds new entries for all of them; redeliver makes the entries themselves pending again "
                "for the group that dead-lettered them; retry adds new entries that only streamops workers of that group get.",
            )
    return ReplayMode.REPUBLISH


def routes_of(
    server: Server, intent: ReplayIntent, mode: ReplayMode, targets: Sequence[TargetStream]
) -> tuple[ReplayRoute, ...]:
    """Which letters go where; raises ``Forbidden`` if a name allows no key beside it on a cluster."""
    routes: list[ReplayRoute] = []
    for target in targets:
        named = "" if intent.to is not None else target.stream
        if mode is ReplayMode.REPUBLISH:
            routes.append(ReplayRoute(named, "", target.stream, target.stream))
            continue
        groups = [(group, group) for group in target.groups]
        if len(groups) == 1:
            # Letters that name no group can be of no other one.
            groups.append(("", target.groups[0]))
        routes += [
            ReplayRoute(named, said, target.stream, _key(server, mode, target.stream, group), group)
            for said, group in groups
        ]
    return tuple(_slotted(server, intent.queue, route) for route in routes)


def stray_dead_letters(
    letters: SelectedDeadLetters,
    mode: ReplayMode,
    routes: Sequence[ReplayRoute],
    foreign: Sequence[ForeignOrigin],
) -> int:
    """How many of the letters that were counted no route takes, apart from those that name foreign streams."""
    anywhere = any(not route.stream for route in routes)
    staying = {one.stream for one in foreign if one.problem}
    taken = {(route.stream, route.group) for route in routes}
    return sum(
        number
        for kind, number in letters.tally.kinds
        if kind.stream not in staying
        and ("" if anywhere else kind.stream, "" if mode is ReplayMode.REPUBLISH else kind.group) not in taken
    )


def _key(server: Server, mode: ReplayMode, stream: str, group: str) -> str:
    if mode is ReplayMode.REDELIVER:
        return stream
    key = retry_key(stream, group)
    require_one_slot(server.options.mode, stream, key)
    return key


def _slotted(server: Server, queue: str, route: ReplayRoute) -> ReplayRoute:
    atomic = server.options.mode is not Mode.CLUSTER or same_slot(queue, route.home, route.key)
    if not atomic:
        require_one_slot(server.options.mode, route.home)
    return ReplayRoute(route.stream, route.group, route.home, route.key, route.to_group, atomic)


FEW: Final = 4
"""Of so many letters fewer than one has to pass through us, where the script alone is the faster way."""


async def survey_replay(place: ServerContext, intent: ReplayIntent) -> ReplayEvidence:
    """Read which letters are meant, where they came from, and which groups are there.

    Raises:
        Forbidden: It is no dead-letter queue, and groups have yet to work on its entries.
        StreamopsError: It cannot be read, or nothing says where the letters go.
    """
    found = await survey_dead_letters(place, intent)
    if found.waiting and not found.is_queue:
        raise _in_use(intent.queue, found.waiting)
    evidence = ReplayEvidence(
        identity=found.identity, letters=found.letters, sample=found.sample, is_queue=found.is_queue
    )
    if not found.letters.count:
        return evidence
    if (
        not found.is_queue
        and intent.to is None
        and not any(kind.stream for kind, _ in found.letters.tally.kinds)
    ):
        raise SettingsError(
            f"stream {intent.queue} is no dead-letter queue by its name or the configuration, and no "
            "entry says which stream it came from",
            "`streamops dlq ls` lists the queues. If it is one, name the target with --to STREAM.",
        )
    configured = (stream for stream, queue in place.dead_letters.items() if queue == intent.queue)
    sources = tuple(dict.fromkeys(one for one in (found.letters.source, *configured) if one))
    targets, foreign = await read_targets(place.server, intent, found.letters, sources)
    mode = choose_mode(intent, targets)
    routes = routes_of(place.server, intent, mode, targets)
    if not routes:
        raise _no_group(mode, targets)
    redelivery, unread = None, tuple[tuple[str, str], ...]()
    if mode is ReplayMode.REDELIVER:
        with suppress(Refused):
            redelivery = await _look_for_entries(
                place.server, intent, found.letters, EntryCheck(routes, targets)
            )
    elif mode is ReplayMode.RETRY:
        unread = await _unread_retries(place, routes)
    return replace(
        evidence,
        targets=targets,
        routes=routes,
        mode=mode,
        stray=stray_dead_letters(found.letters, mode, routes, foreign),
        sources=sources,
        foreign=foreign,
        redelivery=redelivery,
        unread=unread,
    )


CHECKED: Final = 10_000
CHECKED_BYTES: Final = 16 << 20
"""Dead letters, and bytes of them, whose entries are looked for; as much again of the entries is shipped."""

SHOWN: Final = 5
"""Dead letters of a reason that are named."""

UNKNOWN, GONE, NOT_READ, PENDING = "entry-unknown", "entry-gone", "entry-unread", "entry-pending"


class EntryCheck:
    """Whether the entries of dead letters can be made pending again, page by page.

    Attributes:
        looked: Letters looked at.
        size: Their bytes.
        unfit: Those that cannot be redelivered, by reason.
        stray: Those that no route takes.
    """

    def __init__(self, routes: Sequence[ReplayRoute], targets: Sequence[TargetStream]) -> None:
        self._routes = {(route.stream, route.group): route for route in routes}
        self._positions = {
            (target.stream, group): position
            for target in targets
            for group, position in zip(target.groups, target.positions, strict=True)
        }
        # The first of several letters of one entry makes it pending.
        self._seen: set[tuple[ReplayRoute, EntryId]] = set()
        self.looked = self.size = self.stray = 0
        self.unfit: dict[str, list[EntryId]] = {}

    async def look_at(self, server: Server, letters: Sequence[DeadLetter]) -> None:
        """Look for the entries of some letters; raises ``ServerError`` if their streams cannot be read."""
        self.looked += len(letters)
        self.size += sum(letter.entry.size for letter in letters)
        shares: dict[ReplayRoute, list[DeadLetter]] = {}
        for letter in letters:
            route = self._routes.get((letter.origin or "", letter.group or ""))
            if route is None:
                self.stray += 1
            else:
                shares.setdefault(replace(route, stream="", group=""), []).append(letter)
        for route, share in shares.items():
            ids = [letter.origin_id for letter in share if letter.origin_id is not None]
            existing = await read_existing(server, route.home, ids)
            rows = await read_pending_by_id(server, route.home, route.to_group, [*existing])
            pending = {row.id for row in rows}
            for letter in share:
                if why := self._why_unfit(route, letter.origin_id, existing, pending):
                    self.unfit.setdefault(why, []).append(letter.id)

    def _why_unfit(
        self, route: ReplayRoute, entry_id: EntryId | None, existing: set[EntryId], pending: set[EntryId]
    ) -> str:
        if entry_id is None:
            return UNKNOWN
        if entry_id not in existing:
            return GONE
        if entry_id > self._positions[route.home, route.to_group]:
            return NOT_READ
        if entry_id in pending or (route, entry_id) in self._seen:
            return PENDING
        self._seen.add((route, entry_id))
        return ""


async def _look_for_entries(
    server: Server, intent: ReplayIntent, letters: SelectedDeadLetters, check: EntryCheck
) -> Redeliverable | None:
    """Whether the entries of the first letters are still there; raises ``ServerError`` if they cannot be read."""
    if letters.last is None:
        return None
    async for page, _ in chosen_dead_letters(
        server,
        intent.queue,
        letters.source,
        DeadLetterFilter(intent),
        after=letters.after,
        last=letters.last,
    ):
        await check.look_at(server, page)
        if check.looked >= CHECKED or check.size >= CHECKED_BYTES:
            break
    unfit = tuple((why, len(ids), tuple(ids[:SHOWN])) for why, ids in check.unfit.items())
    fit = check.looked - check.stray - sum(count for _, count, _ in unfit)
    return Redeliverable(check.looked, fit, unfit)


async def _unread_retries(place: ServerContext, routes: Sequence[ReplayRoute]) -> tuple[tuple[str, str], ...]:
    """Retry streams, with their groups, that no living consumer reads, as far as that may be asked."""
    groups = list(dict.fromkeys((route.key, route.to_group) for route in routes))
    found = await read_consumers(place.server, groups)
    workers = {
        one.name
        for members in found
        if not isinstance(members, Fault)
        for one in members
        if one.name.startswith(WORKER_PREFIX)
    }
    living: set[str] | None = None
    with suppress(ServerError):
        living = await alive(place.server, sorted(workers))
    return tuple(
        group
        for group, members in zip(groups, found, strict=True)
        if (
            members.kind is FaultKind.MISSING
            if isinstance(members, Fault)
            else not any(_is_living(one, living, place.thresholds.consumer_unseen) for one in members)
        )
    )


def _is_living(consumer: Consumer, living: set[str] | None, unseen: timedelta) -> bool:
    """Whether a consumer is alive, by its heartbeat if it must have one, else by when it was last seen."""
    if living is not None and consumer.name.startswith(WORKER_PREFIX):
        return consumer.name in living
    return consumer.idle < unseen


def _no_group(mode: ReplayMode, targets: Sequence[TargetStream]) -> Forbidden:
    """That there is no group which could get what goes to one alone."""
    stream = targets[0]
    problem = "has no group" if stream.exists else "does not exist"
    return Forbidden(
        f"--mode {mode}: stream {stream.stream} {problem}, so no group would get the entries",
        "Nothing was done. --mode republish adds them to the stream; "
        f"`{command('groups create', stream.stream, 'GROUP')}` creates a group.",
    )


def _in_use(stream: str, groups: Sequence[str]) -> Forbidden:
    some = "group" if len(groups) == 1 else "groups"
    return Forbidden(
        f"stream {stream} is no dead-letter queue by its name or the configuration, and {some} "
        f"{first_few(groups)} would lose entries that are pending or unread",
        "`streamops dlq ls` lists the queues. If it is one, name it in the context's configuration: "
        f'dead_letters = {{ STREAM = "{stream}" }}.',
    )
