"""What the commands that run a controller share: their options, what those come to, and how long it runs."""

import asyncio
import os
import secrets
import socket
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import click
from msgspec import Struct

from streamops.cli.params import LogFormat
from streamops.cli.session import Session
from streamops.errors import Forbidden, SettingsError
from streamops.model.fields import argument, option
from streamops.monitor.watch import Watch
from streamops.settings.load import load_pools

if TYPE_CHECKING:
    from streamops.autoscaling.decisions import Assignment, ControllerOptions

SHORTEST_EVERY: Final = timedelta(seconds=1)
LEAN: Final = Watch(details=False)
"""What a controller looks at: streams and groups, and no consumer of theirs."""
LEASES: Final = 3
"""Rounds that may be missed before somebody else leads."""


class ControllerFlags(Struct, frozen=True, kw_only=True):
    """The arguments and options of every command that runs a controller."""

    pools: Annotated[tuple[str, ...], argument("", "pools", metavar="[POOL]...")] = ()
    stream: Annotated[
        str | None,
        option("Without configuration: the stream of one pool, POOL or default.", metavar="STREAM"),
    ] = None
    group: Annotated[str | None, option("Its group; with --stream.", metavar="GROUP")] = None
    minimum: Annotated[int | None, option("Minimum workers; with --stream.")] = None
    maximum: Annotated[int | None, click.IntRange(min=1), option("Maximum workers; with --stream.")] = None
    objective: Annotated[
        timedelta | None,
        option("Target lag age: the longest that an entry should wait; with --stream."),
    ] = None
    every: Annotated[timedelta, option("Evaluation interval.")] = timedelta(seconds=5)
    log_format: LogFormat = "text"


def options_of(session: Session, flags: ControllerFlags, *, advise: bool) -> "ControllerOptions":
    """What a controller is to do.

    Args:
        session: The settings.
        flags: What was given.
        advise: Whether it only says what it would do.

    Raises:
        SettingsError: That makes no sense, or there is no such pool.
    """
    from streamops.autoscaling.decisions import ControllerOptions  # noqa: PLC0415 - as above

    every = flags.every
    if every < SHORTEST_EVERY:
        raise SettingsError("--every: shorter than a second", "Write --every 5s.")
    assignments, budgets, elsewhere = _assignments(session, flags)
    return ControllerOptions(
        holder=f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}",
        assignments=assignments,
        budgets=budgets,
        elsewhere=elsewhere,
        every=every,
        lease=every * LEASES,
        advise=advise,
    )


def _assignments(
    session: Session, flags: ControllerFlags
) -> tuple[tuple["Assignment", ...], dict[str, int], dict[str, tuple[str, ...]]]:
    """The pools that are named, or all; or the one that the options tell. Budgets, and their pools that are not named."""
    from streamops.autoscaling.decisions import Assignment  # noqa: PLC0415 - as above

    names = flags.pools
    limits = {"minimum": flags.minimum, "maximum": flags.maximum, "objective": flags.objective}
    told = {name: value for name, value in limits.items() if value is not None}
    if flags.stream is not None:
        one = _assignment(names, flags.stream, flags.group, told)
        if not names:
            session.narrator.note(
                f"the pool is called {one.pool}, as no POOL is given; "
                f"its workers are those of `streamops run --pool {one.pool}`"
            )
        return (one,), {}, {}
    if told or flags.group is not None:
        raise SettingsError(
            "--group, --minimum, --maximum and --objective are for --stream", "Name the stream too."
        )
    known = load_pools(os.environ, Path.cwd(), session.settings.context)
    chosen = [known.find(name) for name in names] if names else list(known.pools.values())
    if not chosen:
        raise SettingsError(
            "no pool is configured for this context",
            "Add [pools.NAME], as `streamops config example` shows, or give --stream and --group.",
        )
    assignments = tuple(
        Assignment(
            pool=one.name,
            stream=one.table.stream,
            group=one.table.group,
            config=one.scaling,
            budget=one.table.budget or "",
            weight=one.table.weight,
        )
        for one in chosen
    )
    others = [one for one in known.pools.values() if one not in chosen]
    elsewhere = {
        budget: tuple(one.name for one in others if one.table.budget == budget) for budget in known.budgets
    }
    return assignments, known.budgets, elsewhere


def _assignment(names: Sequence[str], stream: str, group: str | None, told: dict[str, Any]) -> "Assignment":
    from streamops.autoscaling.decisions import Assignment  # noqa: PLC0415 - as above
    from streamops.autoscaling.policy.config import ScalingConfig  # noqa: PLC0415

    if group is None:
        raise SettingsError("--stream without --group", "Name the group whose work is to be done.")
    if len(names) > 1:
        raise SettingsError("--stream is for one pool", "Name one, or none for the pool `default`.")
    try:
        config = ScalingConfig(**told)
    except ValueError as error:
        raise SettingsError(f"--minimum, --maximum, --objective: {error}", "Correct them.") from None
    return Assignment(pool=names[0] if names else "default", stream=stream, group=group, config=config)


def require_writes(session: Session) -> None:
    """A controller writes down that it leads and what it decides; raises ``Forbidden`` in a read-only context."""
    if session.settings.read_only:
        raise Forbidden(
            "read-only: a controller writes down who leads a pool and what was decided",
            "Leave out --read-only, or set `read_only = false` in the context; "
            "`streamops pools simulate` needs to write nothing.",
        )


async def work_until(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Work until told to stop; what goes wrong in it is raised."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not working.done():
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
    else:
        await working


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run the event loop of this process."""
    from streamops.service.processes import runner  # noqa: PLC0415 - uvloop, where it is installed

    runner()(work)
