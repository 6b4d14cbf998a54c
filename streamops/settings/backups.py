"""Where backups are kept unless a file is named."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Final

from streamops.errors import SettingsError
from streamops.settings.places import state_directory

LONGEST: Final = 60
"""Characters of a stream's name in a file's name."""


def new_backup(operation: str, target: Sequence[str], environ: Mapping[str, str]) -> str:
    """The name of a new backup, whose name says what it is of and when; every face names one where nobody did.

    Args:
        operation: The operation's name: ``groups.destroy``.
        target: What it acts on: a stream, and its group.
        environ: The environment: HOME, XDG_STATE_HOME.

    Raises:
        SettingsError: There is no such directory: a user without a home.
    """
    now = datetime.now(UTC)  # noqa: TID251 - for whoever looks for the file later
    return backup_path(operation.replace(".", "-"), "-".join(target), now, environ)


def backup_path(operation: str, target: str, now: datetime, environ: Mapping[str, str]) -> str:
    """The name of a new backup in the state directory, which is not created here.

    Args:
        operation: What is done.
        target: The stream's name; what a file's name cannot hold becomes an underscore.
        now: The time, for people.
        environ: The environment: HOME, XDG_STATE_HOME.

    Raises:
        SettingsError: There is no such directory: a user without a home.
    """
    directory = state_directory(environ)
    if directory is None:
        raise SettingsError(
            "no place to keep a backup", "Set HOME or XDG_STATE_HOME, or name a file with --backup."
        )
    name = re.sub(r"[^A-Za-z0-9._-]", "_", target)[:LONGEST]
    return str(directory / "backups" / f"{operation}-{name}-{now:%Y%m%dT%H%M%SZ}-{token_hex(3)}.jsonl")
