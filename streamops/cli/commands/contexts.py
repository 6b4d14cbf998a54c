"""``streamops ctx``: the places to connect to."""

import os
from pathlib import Path

import click

from streamops.cli.command import Command
from streamops.cli.commands.config import SETTING_COLUMNS, setting_json
from streamops.cli.params import context_argument
from streamops.cli.session import Session, with_session
from streamops.model.json_text import Json
from streamops.present.table import Cell, Column, Tone
from streamops.present.text import safe
from streamops.settings.describe import describe_settings
from streamops.settings.files import notices, read_files
from streamops.settings.load import ContextSummary, list_contexts, use_context

CONTEXT_COLUMNS: tuple[Column[ContextSummary], ...] = (
    Column(
        key="current",
        title="IN USE",
        help="Whether commands use it now.",
        cell=lambda row: Cell("yes" if row.current else "", Tone.STRONG),
        value=lambda row: row.current,
        width=6,
        priority=0,
    ),
    Column(
        key="context",
        title="CONTEXT",
        help="Its name.",
        cell=lambda row: Cell(safe(row.name)),
        value=lambda row: row.name,
        width=16,
        priority=0,
    ),
    Column(
        key="environment",
        title="ENVIRONMENT",
        help="How much care it deserves; production unless stated.",
        cell=lambda row: Cell(row.environment),
        value=lambda row: str(row.environment),
        width=11,
    ),
    Column(
        key="read_only",
        title="READ-ONLY",
        help="Whether everything that changes anything is refused there.",
        cell=lambda row: Cell("yes" if row.read_only else "no"),
        value=lambda row: row.read_only,
        width=9,
    ),
    Column(
        key="address",
        title="ADDRESS",
        help="Where it connects, without secrets, or what is wrong with it.",
        cell=lambda row: Cell(safe(row.problem), Tone.WARN) if row.problem else Cell(safe(row.label)),
        value=lambda row: row.label or None,
        width=40,
        flexible=True,
        priority=0,
    ),
    Column(
        key="file",
        title="FILE",
        help="The configuration file it stands in.",
        cell=lambda row: Cell(safe(row.file), Tone.DIM),
        value=lambda row: row.file,
        width=30,
        flexible=True,
        priority=2,
    ),
)


@click.command(
    cls=Command,
    short_help="List the contexts of the configuration.",
    examples=[("streamops ctx ls", "all contexts; the one in use is marked")],
)
@with_session
def ls(session: Session) -> None:
    """List the contexts of all configuration files; passwords are neither read nor shown."""
    printer = session.printer(CONTEXT_COLUMNS)
    contexts = list_contexts(session.flags, os.environ, Path.cwd())
    session.note_once(notices(read_files(os.environ, Path.cwd())))
    shown = contexts[: session.given.limit]
    printer.print_rows(
        shown, lambda: {"schema": "streamops.ctx.ls/1", "contexts": [_document(context) for context in shown]}
    )
    if not contexts:
        session.narrator.note("there are no contexts; `streamops config example` shows how to write them")


@click.command(
    cls=Command,
    short_help="Show the context in use.",
    examples=[
        ("streamops ctx show", "the context that commands use now"),
        ("streamops ctx show -c staging", "another one"),
    ],
)
@with_session
def show(session: Session) -> None:
    """Show what the context in use sets, and where each value comes from; secrets are never shown."""
    printer = session.printer(SETTING_COLUMNS)
    settings = session.settings
    rows = [row for row in describe_settings(settings) if "." not in row.key]
    printer.print_rows(
        rows,
        lambda: {
            "schema": "streamops.ctx.show/1",
            "context": settings.context,
            "settings": [setting_json(row) for row in rows],
        },
    )


@click.command(
    cls=Command,
    short_help="Choose the context to use from now on.",
    examples=[("streamops ctx use staging", "commands connect to staging unless told otherwise")],
)
@context_argument
@with_session
def use(session: Session, *, context: str) -> None:
    """Choose CONTEXT for all later commands under this configuration.

    The choice is kept beside the configuration, which is not rewritten.
    """
    warnings = use_context(context, os.environ, Path.cwd())
    session.narrator.note(f"context {context} is used from now on")
    for warning in warnings:
        session.narrator.note(f"warning: {warning}")


def _document(context: ContextSummary) -> Json:
    return {
        "context": context.name,
        "current": context.current,
        "environment": context.environment,
        "read_only": context.read_only,
        "address": context.label or None,
        "file": safe(context.file),
        "problem": safe(context.problem) or None,
    }
