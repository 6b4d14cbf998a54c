"""Where letters go: the streams they came from, their groups, and the keys to write to."""

from collections.abc import Sequence
from typing import Final

from streamops.analysis.wording import first_few
from streamops.errors import Forbidden, SettingsError
from streamops.model.acts.letters import SelectedLetters
from streamops.model.acts.replay import ReplayIntent, ReplayMode, Route, TargetStream
from streamops.model.server import Mode
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.keys import require_one_slot, retry_key, same_slot
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader

MOST_STREAMS: Final = 32
"""Streams that the letters of one replay may come from."""


async def read_targets(
    server: Server, intent: ReplayIntent, letters: SelectedLetters
) -> tuple[TargetStream, ...]:
    """The streams that the letters go back to, with their groups.

    Raises:
        Forbidden: One is the queue itself, or does not exist and was not asked for by name, or there are too many.
        SettingsError: Nothing tells which.
        ServerError: One cannot be read.
    """
    streams = _streams(intent, letters)
    readings = (await StreamReader(server).read(streams)).streams if streams else ()
    targets = []
    for stream, reading in zip(streams, readings, strict=True):
        if not isinstance(reading, Fault):
            targets.append(TargetStream(stream, tuple(group.name for group in reading.groups)))
        elif reading.kind is not FaultKind.MISSING:
            raise reading.error(f"stream {stream}")
        elif intent.to is None:
            raise Forbidden(
                f"stream {stream}, where letters of {intent.queue} came from, does not exist",
                f"Name it with --to {stream} to create it, or another one.",
            )
        else:
            targets.append(TargetStream(stream, exists=False))
    return tuple(targets)


def choose_mode(intent: ReplayIntent, targets: Sequence[TargetStream]) -> ReplayMode:
    """The mode that was asked for, or follows; raises ``SettingsError`` where one has to be asked for."""
    if intent.mode is not None:
        return intent.mode
    for target in targets:
        if len(target.groups) > 1:
            raise SettingsError(
                f"--mode is needed: stream {target.stream} has {len(target.groups)} groups: {first_few(target.groups)}",
                "--mode republish adds the entries for all of them; redeliver and retry reach only the group "
                "that gave an entry up.",
            )
    return ReplayMode.REPUBLISH


def routes_of(
    server: Server, intent: ReplayIntent, mode: ReplayMode, targets: Sequence[TargetStream]
) -> tuple[Route, ...]:
    """Which letters go where; raises ``Forbidden`` where a name allows no key beside it on a cluster."""
    routes: list[Route] = []
    for target in targets:
        named = "" if intent.to is not None else target.stream
        if mode is ReplayMode.REPUBLISH:
            routes.append(Route(named, "", target.stream, target.stream))
            continue
        groups = [(group, group) for group in target.groups]
        if len(groups) == 1:
            # Letters that name no group can be of no other one.
            groups.append(("", target.groups[0]))
        routes += [
            Route(named, said, target.stream, _key(server, mode, target.stream, group), group)
            for said, group in groups
        ]
    return tuple(_slotted(server, intent.queue, route) for route in routes)


def stray_letters(letters: SelectedLetters, mode: ReplayMode, routes: Sequence[Route]) -> int:
    """How many of the letters that were counted no route takes."""
    anywhere = any(not route.stream for route in routes)
    taken = {(route.stream, route.group) for route in routes}
    return sum(
        number
        for kind, number in letters.tally.kinds
        if ("" if anywhere else kind.stream, "" if mode is ReplayMode.REPUBLISH else kind.group) not in taken
    )


def _streams(intent: ReplayIntent, letters: SelectedLetters) -> list[str]:
    if intent.to is not None:
        return [intent.to]
    streams = sorted({kind.stream for kind, _ in letters.tally.kinds if kind.stream})
    if not streams and letters.count:
        raise SettingsError(
            f"queue {intent.queue}: neither its letters nor its name tell which stream they came from",
            "Say where to with --to STREAM.",
        )
    if intent.queue in streams:
        raise Forbidden(
            f"queue {intent.queue}: some of its letters came from itself, and would go round in circles",
            "Say where to with --to STREAM.",
        )
    if len(streams) > MOST_STREAMS:
        raise Forbidden(
            f"queue {intent.queue}: its letters came from more than {MOST_STREAMS} streams",
            "Narrow the selection with --where, or say where to with --to STREAM.",
        )
    return streams


def _key(server: Server, mode: ReplayMode, stream: str, group: str) -> str:
    if mode is ReplayMode.REDELIVER:
        return stream
    key = retry_key(stream, group)
    require_one_slot(server.options.mode, stream, key)
    return key


def _slotted(server: Server, queue: str, route: Route) -> Route:
    atomic = server.options.mode is not Mode.CLUSTER or same_slot(queue, route.home, route.key)
    if not atomic:
        require_one_slot(server.options.mode, route.home)
    return Route(route.stream, route.group, route.home, route.key, route.to_group, atomic)
