"""Where what is about to be lost is written first, unless the person names another file or none."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from streamops.errors import SettingsError
from streamops.settings.backups import backup_path
from streamops.tui.subjects import Subject

KEPT: Final = frozenset({"groups.destroy", "streams.rm-entry", "dlq.purge", "delayed.cancel"})
"""The operations that write a backup unless they are told not to."""


def backup_for(operation: str, subject: Subject | None) -> dict[str, str]:
    """A new file in the state directory as the form's value; nothing where none is written, or there is no such place."""
    if operation not in KEPT or subject is None:
        return {}
    now = datetime.now(UTC)  # noqa: TID251 - for whoever looks for the file later
    target = "-".join(filter(None, [subject.stream, subject.group]))
    with suppress(SettingsError):
        return {"backup": backup_path(operation.replace(".", "-"), target, now, os.environ)}
    return {}
