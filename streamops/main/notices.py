"""What ``streamops exporter`` does for ``--notify`` and ``--notify-test``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from streamops.cli.session import Session, wait_for
from streamops.errors import ExitCode
from streamops.present.documents import Json
from streamops.present.table import Cell, Column, Tone
from streamops.present.text import safe
from streamops.present.units import ABSENT
from streamops.settings.actors import selector_of
from streamops.settings.notify import load_notify

if TYPE_CHECKING:
    from streamops.exporter.notices.notifier import Notifier
    from streamops.exporter.notices.wording import Origin


class Attempt(Struct, frozen=True):
    """What came of one test notice.

    Attributes:
        target: Which address, without it.
        reason: Why it did not go out; empty where it did.
    """

    target: str
    reason: str

    @property
    def outcome(self) -> str:
        """``sent`` or ``failed``."""
        return "failed" if self.reason else "sent"


ATTEMPT_COLUMNS: Final[tuple[Column[Attempt], ...]] = (
    Column(
        key="target",
        title="TARGET",
        help="The address by its number and service.",
        cell=lambda row: Cell(safe(row.target)),
        value=lambda row: row.target,
        width=24,
        priority=0,
    ),
    Column(
        key="outcome",
        title="OUTCOME",
        help="Whether the service took the notice: sent or failed.",
        cell=lambda row: Cell(row.outcome, Tone.CRITICAL if row.reason else Tone.OK),
        value=lambda row: row.outcome,
        width=8,
        priority=0,
    ),
    Column(
        key="reason",
        title="REASON",
        help="Why it did not; a dash where it did.",
        cell=lambda row: Cell(safe(row.reason)) if row.reason else Cell(ABSENT, Tone.DIM),
        value=lambda row: row.reason or None,
        width=40,
        flexible=True,
        priority=0,
    ),
)


def load_notifier(session: Session) -> "Notifier":
    """A notifier of the server in use; raises ``SettingsError`` where the configuration allows none."""
    from streamops.exporter.notices.notifier import open_notifier  # noqa: PLC0415 - only who notifies pays for apprise

    return open_notifier(load_notify(os.environ, Path.cwd()), _origin(session))


def send_test_notices(session: Session) -> ExitCode:
    """Send one test notice to every address and print what came of it."""
    from streamops.exporter.notices.delivering import Sending, send_test  # noqa: PLC0415 - as above
    from streamops.exporter.notices.outlets import open_outlets  # noqa: PLC0415
    from streamops.exporter.notices.wording import render_test  # noqa: PLC0415

    printer = session.printer(ATTEMPT_COLUMNS)
    outlets = open_outlets(load_notify(os.environ, Path.cwd()).addresses)
    results = wait_for(send_test(outlets, render_test(_origin(session)), Sending().attempt))
    attempts = [Attempt(outlet.label, reason) for outlet, reason in results]
    printer.print_rows(attempts, lambda: _document(attempts))
    return ExitCode.FAILED if any(attempt.reason for attempt in attempts) else ExitCode.DONE


def _origin(session: Session) -> "Origin":
    from streamops.exporter.notices.wording import Origin  # noqa: PLC0415 - as above

    settings = session.settings
    label = settings.connection.label
    return Origin(f"{settings.context} ({label})" if settings.context else label, selector_of(settings))


def _document(attempts: list[Attempt]) -> Json:
    return {
        "schema": "streamops.exporter.notify-test/1",
        "targets": [
            {"target": attempt.target, "outcome": attempt.outcome, "reason": attempt.reason or None}
            for attempt in attempts
        ],
    }
