"""``streamops dlq purge``."""

import os
from datetime import UTC, datetime
from typing import Any

from streamops.cli.acting.command import acting_command
from streamops.model.acts.purge import PurgeIntent
from streamops.settings.backups import backup_path


def _name_backup(values: dict[str, Any]) -> None:
    """Without ``--backup`` the file is a new one in the state directory, whose name says when."""
    if values["backup"] is None:
        now = datetime.now(UTC)  # noqa: TID251 - for whoever looks for the file later
        values["backup"] = backup_path("dlq-purge", values["queue"], now, os.environ)


purge = acting_command(
    PurgeIntent,
    "purge",
    "Delete letters for good.",
    help=(
        "Delete letters of a dead-letter queue. Each is written to a file before it is deleted, which "
        "`streamops restore` reads: without --backup, to a new one under ~/.local/state/streamops/backups. Where the "
        "queue has groups of its own, their lag is not known afterwards."
    ),
    examples=[
        (
            "streamops dlq purge '{orders}:dlq' --until 30d --dry-run",
            "what is older than 30 days: the plan alone",
        ),
        (
            "streamops dlq purge '{orders}:dlq' --because rejected --confirm '{orders}:dlq'",
            "what was rejected",
        ),
    ],
    rated=True,
    fill=_name_backup,
)
