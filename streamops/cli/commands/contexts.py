"""``streamops ctx``: the places to connect to."""

import os
from pathlib import Path
from typing import Annotated

from streamops.cli.commands.config import SETTING_COLUMNS, setting_json
from streamops.cli.options import command
from streamops.cli.session import Session
from streamops.model.fields import argument
from streamops.model.json_text import Json
from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.settings.describe import describe_settings
from streamops.settings.files import notices, read_files
from streamops.settings.load import ContextSummary, list_contexts, use_context

CONTEXT = of_rows(ContextSummary)

CONTEXT_COLUMNS: tuple[Column[ContextSummary], ...] = (
    CONTEXT.column(
        "current",
        "IN USE",
        6,
        lambda row: row.current,
        lambda row: Cell("yes" if row.current else "", Tone.STRONG),
        priority=0,
    ).means("Whether commands use it now."),
    CONTEXT.text("context", "CONTEXT", 16, lambda row: row.name, priority=0).means("Its name."),
    CONTEXT.text("environment", "ENVIRONMENT", 11, lambda row: str(row.environment)).means(
        "Its environment; production unless configured."
    ),
    CONTEXT.flag("read_only", "READ-ONLY", 9, lambda row: row.read_only).means("Whether it is read-only."),
    CONTEXT.column(
        "address",
        "ADDRESS",
        40,
        lambda row: row.label or None,
        lambda row: Cell(safe(row.problem), Tone.WARN) if row.problem else Cell(safe(row.label)),
        flexible=True,
        priority=0,
    ).means("Where it connects, without secrets, or what is wrong with it."),
    CONTEXT.text("file", "FILE", 30, lambda row: row.file, tone=Tone.DIM, flexible=True, priority=2).means(
        "The configuration file that has it."
    ),
)


@command(
    examples=[("streamops ctx ls", "all contexts; the one in use is marked")],
)
def ls(session: Session) -> None:
    """List the contexts of all configuration files; passwords are neither read nor shown."""
    printer = session.printer(CONTEXT_COLUMNS)
    contexts = list_contexts(session.flags, os.environ, Path.cwd())
    session.note_once(notices(read_files(os.environ, Path.cwd())))
    printer.print_list("ctx.ls", "contexts", contexts, _document, flat=True)
    if not contexts:
        session.narrator.note("there are no contexts; `streamops config example` shows how to write them")


@command(
    examples=[
        ("streamops ctx show", "the context that commands use now"),
        ("streamops ctx show -c staging", "another one"),
    ],
)
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


@command(
    examples=[("streamops ctx use staging", "commands connect to staging unless another is named")],
)
def use(session: Session, *, context: Annotated[str, argument("", "contexts")]) -> None:
    """Choose CONTEXT for all later commands under this configuration.

    The choice is kept in a file of its own; the configuration is not rewritten.
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
