"""What the console is started with: a server and its contexts."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streamops.cli.session import Session
from streamops.settings.load import ContextSummary, Settings, actor_of, list_contexts, load_settings
from streamops.settings.tables import ConsoleOptions
from streamops.settings.views import save_view

if TYPE_CHECKING:
    from streamops.operations.console import Console
    from streamops.resources.views import SavedView
    from streamops.tui.source import TuiSettings
from collections.abc import Mapping
from typing import NamedTuple

from streamops.errors import ExitCode
from streamops.resources.actions import KEYS, key_names, shown_keys
from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.settings.config import read_config


def server_settings(session: Session, *, shows_plans: bool = False) -> "TuiSettings":
    """The console on the server that is in use.

    Args:
        session: The call of the command.
        shows_plans: Whether plans may be looked at where nothing may be changed.
    """
    from streamops.tui.source import ContextInfo, TuiSettings  # noqa: PLC0415 - see faces.tui()

    settings = session.settings
    address = settings.connection.label
    name = settings.context or settings.connection.short_name
    current = ContextInfo(
        name,
        settings.environment,
        address,
        url="" if settings.context else address,
        read_only=settings.read_only,
        shows_plans=shows_plans,
    )
    contexts = [
        ContextInfo(
            context.name,
            context.environment,
            context.label,
            read_only=_is_read_only(settings, context),
            shows_plans=shows_plans,
        )
        for context in list_contexts(session.flags, os.environ, Path.cwd())
        if not context.problem
    ]

    async def open_source(wanted: str) -> "Console":
        if wanted == name:
            return await _open_console(settings)
        flags = replace(session.flags, context=wanted, url=None)
        # It may run a program that asks for a password: the screen must not freeze meanwhile.
        return await _open_console(await asyncio.to_thread(load_settings, flags, os.environ, Path.cwd()))

    found = TuiSettings(
        context=current,
        contexts=tuple(contexts) if settings.context else (current, *contexts),
        open_source=open_source,
        views=settings.tables.views,
        save_view=_save_view,
    )
    return _with_options(found, settings.tables.console)


def _with_options(settings: "TuiSettings", options: ConsoleOptions) -> "TuiSettings":
    return replace(
        settings,
        every=options.refresh,
        theme=options.theme or "",
        keymap=options.keymap,
        mouse=options.mouse,
        colour=options.color,
        copy=options.copy,
    )


async def _save_view(name: str, view: "SavedView") -> str:
    """Add a view to the user's configuration; the file's name. The screen must not freeze on a slow disk."""
    return str(await asyncio.to_thread(save_view, name, view, os.environ, Path.cwd()))


def _is_read_only(settings: Settings, context: ContextSummary) -> bool:
    """Whether nothing would be changed in a context: what was stated for this run wins over its configuration."""
    stated = settings.origins.get("read_only") in {"--read-only", "STREAMOPS_READ_ONLY"}
    return settings.read_only if stated else context.read_only


async def _open_console(settings: Settings) -> "Console":
    from streamops.operations.console import Console  # noqa: PLC0415 - redis-py is for commands that connect
    from streamops.settings.load import find_target  # noqa: PLC0415 - few scale pools

    return await Console.open(
        settings.connection,
        settings.watch,
        settings.tables.health,
        actor=actor_of(settings),
        read_only=settings.read_only,
        find_target=lambda pool: find_target(pool, settings.context, os.environ, Path.cwd()),
    )


class KeyRow(NamedTuple):
    """One thing that a key does.

    Attributes:
        name: Its name.
        keys: The keys that do it.
        own: Whether the configuration says so.
    """

    name: str
    keys: str
    own: bool


KEY = of_rows(KeyRow)

KEY_COLUMNS: tuple[Column[KeyRow], ...] = (
    KEY.text("name", "NAME", 20, lambda row: row.name, priority=0).means(
        "What it does, as console.keymap names it."
    ),
    KEY.column(
        "keys",
        "KEYS",
        20,
        lambda row: row.keys,
        lambda row: Cell(row.keys, Tone.STRONG if row.own else Tone.PLAIN),
        flexible=True,
        priority=0,
    ).means("The keys that do it."),
    KEY.column(
        "own",
        "FROM",
        14,
        lambda row: row.own,
        lambda row: Cell("configuration" if row.own else "default", Tone.DIM),
    ).means("Whether the configuration says so."),
)


def print_keys(session: Session) -> int:
    """Print all of them.

    Raises:
        SettingsError: The configuration cannot be understood.
    """
    config = read_config(os.environ, Path.cwd())
    session.note_once(config.notices)
    keymap = config.tables.console.keymap
    rows = key_rows(keymap)
    session.printer(KEY_COLUMNS).print_rows(
        rows,
        lambda: {"schema": "streamops.tui.keys/1", "keys": [_key_json(row, keymap) for row in rows]},
    )
    return ExitCode.DONE


def key_rows(keymap: Mapping[str, str]) -> tuple[KeyRow, ...]:
    """Everything that a key does."""
    return tuple(KeyRow(name, shown_keys(name, keymap), name in keymap) for name in KEYS)


def _key_json(row: KeyRow, keymap: Mapping[str, str]) -> dict[str, object]:
    return {
        "name": row.name,
        "keys": list(key_names(keymap.get(row.name, KEYS[row.name].keys))),
        "own": row.own,
    }
