"""``streamops config``: what is configured, and whether it can be."""

import os
from pathlib import Path
from typing import Annotated

import click

from streamops.cli.command import Command
from streamops.cli.options import command
from streamops.cli.params import FILE
from streamops.cli.printer import write
from streamops.cli.session import Session
from streamops.errors import ExitCode, ServerError, SettingsError
from streamops.model.fields import argument, option
from streamops.model.json_text import Json
from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.settings.config import validate_file, validate_files
from streamops.settings.decoding import ConfigProblem, join_key
from streamops.settings.describe import SettingRow, describe_left_out, describe_settings, render_example
from streamops.settings.files import (
    Trust,
    TrustedFile,
    find_project,
    in_short,
    list_trusted,
    notices,
    read_files,
    revoke_trust,
    trust_project,
)

SETTING = of_rows(SettingRow)
CONFIG_PROBLEM = of_rows(ConfigProblem)

SETTING_COLUMNS: tuple[Column[SettingRow], ...] = (
    SETTING.text("key", "SETTING", 30, lambda row: row.key, priority=0).means(
        "Its key, as in a configuration file."
    ),
    SETTING.text("value", "VALUE", 30, lambda row: row.value or None, flexible=True, priority=0).means(
        "Its value; *** for a secret, a dash for none."
    ),
    SETTING.column(
        "origin",
        "FROM",
        30,
        lambda row: row.origin,
        lambda row: Cell(safe(row.origin), Tone.DIM if row.origin == "default" else Tone.PLAIN),
        flexible=True,
        priority=0,
    ).means("The flag, variable or file that it comes from, or default."),
)

PROBLEM_COLUMNS: tuple[Column[ConfigProblem], ...] = (
    CONFIG_PROBLEM.text("file", "FILE", 30, lambda row: row.file, flexible=True, priority=0).means(
        "The configuration file."
    ),
    CONFIG_PROBLEM.text("key", "SETTING", 30, lambda row: row.key or None, priority=0).means(
        "The key; a dash for the file as a whole."
    ),
    CONFIG_PROBLEM.text("problem", "PROBLEM", 40, lambda row: row.text, flexible=True, priority=0).means(
        "What is wrong."
    ),
    CONFIG_PROBLEM.text("hint", "FIX", 30, lambda row: row.hint or None, flexible=True, priority=0).means(
        "What to do."
    ),
)


@command(
    examples=[("streamops config show", "all settings, as flags, environment and files make them")],
)
def show(session: Session) -> None:
    """Show every effective setting, its value and whether a flag, a variable or a file set it.

    Settings that an untrusted streamops.toml of the working directory may not set are listed at the end.
    """
    printer = session.printer(SETTING_COLUMNS)
    rows, left_out = describe_settings(session.settings), describe_left_out(session.settings)
    printer.print_rows(
        (*rows, *left_out),
        lambda: {
            "schema": "streamops.config.show/1",
            "settings": [setting_json(row) for row in rows],
            "left_out": [{"key": key, "file": safe(file)} for key, file in session.settings.left_out],
        },
    )


@command(
    examples=[
        ("streamops config validate", "the files in use"),
        ("streamops config validate streamops.toml", "a file that is not in use yet"),
    ],
    exits={2: "there are problems"},
)
def validate(
    session: Session,
    *,
    file: Annotated[Path | None, click.Path(dir_okay=False, path_type=Path), argument("")] = None,
) -> int:
    """Check the configuration files in use, or FILE, and list every problem, not only the first.

    With the files in use, the context's server is asked too: whether the keys of dead_letters and delayed
    have the right type. A streamops.toml of the working directory is checked in full, trusted or not.
    """
    printer = session.printer(PROBLEM_COLUMNS)
    if file is None:
        files, problems = validate_files(os.environ, Path.cwd())
        problems = problems or _mapping_problems(session)
    else:
        files, problems = (file,), validate_file(file, os.environ)
    printer.print_rows(
        problems,
        lambda: {
            "schema": "streamops.config.validate/1",
            "files": [safe(str(path)) for path in files],
            "problems": [_problem_json(problem) for problem in problems],
        },
    )
    if not files:
        session.narrator.note("there is no configuration file; everything has its default")
    elif not problems:
        session.narrator.note(f"no problems in {', '.join(str(path) for path in files)}")
    return ExitCode.USAGE if problems else ExitCode.DONE


@click.command(
    cls=Command,
    examples=[("streamops config example > ~/.config/streamops/config.toml", "a file of your own")],
)
def example() -> None:
    """Print an example configuration that names every key."""
    write(render_example())


def _mapping_problems(session: Session) -> tuple[ConfigProblem, ...]:
    """What is wrong with the keys that the context in use maps to streams."""
    try:
        settings = session.settings
    except SettingsError as error:
        if not (told := notices(read_files(os.environ, Path.cwd()))):
            raise
        # The file is sound, and names what nobody has trusted it with.
        session.note_once(told)
        session.narrator.note(f"no server was asked: {error.message}")
        return ()
    if settings.context is None or not (settings.watch.dead_letters or settings.watch.delayed):
        return ()
    try:
        found = session.run(lambda console: console.find_mapping_problems())
    except ServerError as error:
        session.narrator.note(
            f"what dead_letters and delayed of context {settings.context} name was not looked at: {error.message}"
        )
        return ()
    context = join_key("contexts", settings.context)
    return tuple(
        ConfigProblem(
            settings.origins[one.table], join_key(f"{context}.{one.table}", one.stream), one.text, one.hint
        )
        for one in found
    )


def setting_json(row: SettingRow) -> Json:
    """One setting."""
    return {"key": row.key, "value": row.value or None, "origin": row.origin}


def _problem_json(problem: ConfigProblem) -> Json:
    return {
        "file": safe(problem.file),
        "key": problem.key or None,
        "problem": safe(problem.text),
        "hint": safe(problem.hint) or None,
    }


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


@command(
    examples=[
        ("streamops config trust", "that of the working directory, in its current form"),
        ("streamops config trust ~/src/shop", "another project's"),
        ("streamops config trust --list", "all trusted files, and whether they have changed"),
        ("streamops config trust --revoke ~/src/shop", "revoke the trust"),
    ],
    exits={2: "usage; no such file, another user's, or one with problems"},
)
def trust(
    session: Session,
    *,
    path: Annotated[Path | None, FILE, argument("")] = None,
    listed: Annotated[bool, option("List the files that are trusted.", "list")] = False,
    revoke: Annotated[bool, option("Revoke trust in the file.")] = False,
) -> None:
    """Trust the streamops.toml of the working directory, or PATH, as it is now.

    A project's file comes with a cloned repository. Untrusted, it may set views, thresholds of health rules
    and the default context, one of your own; its other settings are left out, with a warning. Trusted, it may
    connect, send and run anything. A changed file is no longer trusted.
    """
    if listed:
        if path is not None or revoke:
            raise SettingsError(
                "--list takes no other argument", "Give it without a path and without --revoke."
            )
        _list(session)
        return
    found = find_project(path, Path.cwd())
    if revoke:
        revoke_trust(found, os.environ)
        session.narrator.note(f"{found} is not trusted any more")
        return
    keys = trust_project(found, os.environ)
    sets = f": it sets {in_short(keys)}" if keys else "; it sets nothing that it could not set before"
    session.narrator.note(f"{found} is trusted in its current form{sets}")


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
