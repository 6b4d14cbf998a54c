"""``streamops streams rm-entry``."""

import os
from datetime import UTC, datetime
from typing import Any

from streamops.cli.acting.command import acting_command
from streamops.model.acts.delete import DeleteIntent
from streamops.settings.backups import backup_path


def _name_backup(values: dict[str, Any]) -> None:
    """Without ``--backup`` the file is a new one in the state directory, whose name says when."""
    if values["backup"] is None:
        now = datetime.now(UTC)  # noqa: TID251 - for whoever looks for the file later
        values["backup"] = backup_path("rm-entry", values["stream"], now, os.environ)


rm_entry = acting_command(
    DeleteIntent,
    "rm-entry",
    "Delete entries by ID, after writing them to a file.",
    help=(
        "Delete entries of a stream by their IDs, for every group. Each is written to a file before it is deleted, "
        "which `streamops restore` reads: without --backup, to a new one under ~/.local/state/streamops/backups."
    ),
    examples=[
        (
            "streamops streams rm-entry orders --ids 1526919030474-0 --dry-run",
            "what it would do to which group",
        ),
        (
            "streamops streams search orders --field user=42 -o jsonl | streamops streams rm-entry orders --ids -",
            "every entry of one user",
        ),
    ],
    fill=_name_backup,
)
