"""``streamops tui --keys``: what the console's keys are, by the names that a configuration uses."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.resources.actions import KEYS, key_names, shown_keys
from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.settings.config import read_config


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
