"""Completion of names by the shell: quick, and silent where anything fails."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from streamops.cli.globals import Globals, globals_of
from streamops.cli.session import Session
from streamops.errors import StreamopsError
from streamops.monitor.dead_letters import queues_among
from streamops.resources.text import safe
from streamops.settings.load import list_contexts, load_pools

if TYPE_CHECKING:
    from streamops.operations.console import Console

PATIENCE: Final = 0.3
MOST: Final = 200
RECENT: Final = 50
"""Actions and jobs that are offered."""

Found = TypeVar("Found")


def complete_contexts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Names of contexts."""
    session = _silent(ctx)
    try:
        contexts = list_contexts(session.flags, os.environ, Path.cwd())
    except StreamopsError:
        return []
    return _items([context.name for context in contexts], incomplete)


def complete_streams(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """Names of streams, from the server."""

    async def names(console: "Console") -> list[str]:
        await console.discover()
        return console.discovery.names

    return _items(_ask(ctx, names, [f"{_escaped(incomplete)}*"]), incomplete)


def complete_groups(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """Names of the groups of the stream given before, from the server."""
    stream = ctx.params.get("stream")
    if not isinstance(stream, str):
        return []

    async def names(console: "Console") -> list[str]:
        snapshot = await console.collect([stream])
        return [group.name for state in snapshot.streams for group in state.groups]

    return _items(_ask(ctx, names, [_escaped(stream)]), incomplete)


def complete_consumers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """Names of the consumers of the group given before, from the server."""
    stream, wanted = ctx.params.get("stream"), ctx.params.get("group")
    if not isinstance(stream, str):
        return []

    async def names(console: "Console") -> list[str]:
        groups = [group for state in (await console.collect([stream])).streams for group in state.groups]
        members = [group.members or () for group in groups if wanted in {None, group.name}]
        return list(dict.fromkeys(member.name for several in members for member in several))

    return _items(_ask(ctx, names, [_escaped(stream)]), incomplete)


def complete_queues(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """Names of dead-letter queues: by their own names, or as the configuration has them."""

    async def names(console: "Console") -> list[str]:
        await console.discover()
        return queues_among(console.discovery.names, console.watch.dead_letters)

    return _items(_ask(ctx, names, [f"{_escaped(incomplete)}*"]), incomplete)


def complete_actions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """IDs of the last actions of the audit log, with what they did, newest first."""

    async def actions(console: "Console") -> list[CompletionItem]:
        return [
            _item(action.first.begun_id, f"{action.first.operation} {action.first.target}")
            for action in (await console.read_actions(RECENT)).actions
        ]

    return _beginning(_ask(ctx, actions, []), incomplete)


def complete_jobs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """IDs of jobs, with what they do and how they stand."""

    async def jobs(console: "Console") -> list[CompletionItem]:
        found = await console.read_jobs(RECENT)
        return [_item(job.id, f"{job.operation} {job.target}, {job.state}") for job in found]

    return _beginning(_ask(ctx, jobs, []), incomplete)


def complete_topics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """Names of topics that are kept in Redis."""

    async def names(console: "Console") -> list[str]:
        return [view.name for view in await console.topics.kept()]

    return _items(_ask(ctx, names, []), incomplete)


def complete_pools(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - the same
    """Names of pools: of the configuration, and those on the server that have a controller or supervisors."""
    try:
        configured = load_pools(os.environ, Path.cwd(), _silent(ctx).settings.context).pools
    except StreamopsError:
        configured = {}

    async def names(console: "Console") -> list[str]:
        return await console.pools.names()

    return _items([*{*configured, *_ask(ctx, names, [])}], incomplete)


def _item(ident: str, words: str) -> CompletionItem:
    return CompletionItem(ident, help=safe(words))


def _beginning(items: Sequence[CompletionItem], incomplete: str) -> list[CompletionItem]:
    return [item for item in items if item.value.startswith(incomplete)]


def _silent(ctx: click.Context) -> Session:
    given: Globals = globals_of(ctx)
    return Session(given._replace(quiet=True, timeout=PATIENCE))


def _ask(
    ctx: click.Context,
    names: Callable[["Console"], Coroutine[None, None, list[Found]]],
    patterns: Sequence[str],
) -> list[Found]:
    async def in_time(console: "Console") -> list[Found]:
        async with asyncio.timeout(PATIENCE):
            return await names(console)

    try:
        return _silent(ctx).run(in_time, patterns)
    except (StreamopsError, TimeoutError, OSError):
        return []


def _escaped(name: str) -> str:
    """A glob pattern that matches the name itself."""
    return "".join(f"\\{letter}" if letter in "*?[]\\^" else letter for letter in name)


def _items(names: Sequence[str], incomplete: str) -> list[CompletionItem]:
    """Names that begin so, without those that a shell or a terminal could stumble over."""
    fitting = [
        name for name in names if name.startswith(incomplete) and safe(name) == name and not name.isspace()
    ]
    return [CompletionItem(name) for name in sorted(fitting)[:MOST]]
