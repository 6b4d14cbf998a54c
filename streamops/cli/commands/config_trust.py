"""``streamops config trust``: let a project's file set what only the user's own may set otherwise."""

import os
from pathlib import Path

import click

from streamops.cli.command import Command
from streamops.cli.session import Session, with_session
from streamops.errors import SettingsError
from streamops.model.json_text import Json
from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.settings.files import (
    Trust,
    TrustedFile,
    find_project,
    in_short,
    list_trusted,
    revoke_trust,
    trust_project,
)

GONE = "gone"

TRUSTED_FILE = of_rows(TrustedFile)

TRUSTED_COLUMNS: tuple[Column[TrustedFile], ...] = (
    TRUSTED_FILE.column(
        "standing",
        "STANDING",
        26,
        lambda row: row.trust or GONE,
        lambda row: Cell(row.trust or GONE, Tone.PLAIN if row.trust == Trust.TRUSTED else Tone.WARN),
        priority=0,
    ).means("trusted; changed since it was trusted; another user's; or gone."),
    TRUSTED_FILE.text("file", "FILE", 40, lambda row: row.path, flexible=True, priority=0).means(
        "The project's file."
    ),
)


@click.command(
    cls=Command,
    short_help="Let a project's streamops.toml set what only your own file may.",
    examples=[
        ("streamops config trust", "that of the working directory, as it is now"),
        ("streamops config trust ~/src/shop", "another project's"),
        ("streamops config trust --list", "all that are trusted, and whether they are as they were"),
        ("streamops config trust --revoke ~/src/shop", "no more"),
    ],
    exits={2: "usage; no such file, another user's, or one with problems"},
)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--list", "listed", is_flag=True, help="List the files that are trusted.")
@click.option("--revoke", is_flag=True, help="Trust the file no more.")
@with_session
def trust(session: Session, *, path: Path | None, listed: bool, revoke: bool) -> None:
    """Trust the streamops.toml of the working directory, or PATH, as it is now.

    A project's file comes with whatever was cloned. Untrusted it sets how things are shown and judged, and which of your
    own contexts is meant; what else it states is left out, and printed on stderr. Trusted, it may connect, send and run
    anything. A file that changes is not trusted any more.
    """
    if listed:
        if path is not None or revoke:
            raise SettingsError("--list stands alone", "Give it without a path and without --revoke.")
        _list(session)
        return
    found = find_project(path, Path.cwd())
    if revoke:
        revoke_trust(found, os.environ)
        session.narrator.note(f"{found} is not trusted any more")
        return
    keys = trust_project(found, os.environ)
    sets = f": it sets {in_short(keys)}" if keys else "; it sets nothing that it could not set before"
    session.narrator.note(f"{found} is trusted as it is now{sets}")


def _list(session: Session) -> None:
    rows = list_trusted(os.environ)
    session.printer(TRUSTED_COLUMNS).print_rows(
        rows,
        lambda: {
            "schema": "streamops.config.trust/1",
            "files": [_json(row) for row in rows],
        },
    )
    if not rows:
        session.narrator.note("no project is trusted")


def _json(row: TrustedFile) -> Json:
    return {"file": safe(row.path), "standing": row.trust or GONE}
