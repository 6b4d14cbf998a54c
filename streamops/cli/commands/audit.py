"""``streamops audit``: what was done, by whom, and why."""

import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import click
from msgspec.structs import replace

from streamops.cli.formats import document_text
from streamops.cli.globals import Output
from streamops.cli.options import command
from streamops.cli.params import Since, Until
from streamops.cli.printer import DOCUMENTS, FOR_PEOPLE, print_facts, write
from streamops.cli.reading import id_at
from streamops.cli.session import Session
from streamops.errors import NotFound, SettingsError
from streamops.model.acting import Action
from streamops.model.entries import LAST_ID, MAX_PART, ZERO_ID, EntryId
from streamops.model.fields import argument, option
from streamops.model.json_text import Json, encode
from streamops.operations.audit import (
    ActionQuery,
    Before,
    action_of,
    find_actions,
    plain_values,
    state_before,
)
from streamops.operations.registry import LISTED, command_words
from streamops.resources.audit import AUDIT_COLUMNS, action_document, action_facts, action_json

if TYPE_CHECKING:
    from streamops.operations.console import Console

OPERATIONS: Final = {**{command_words(name): name for name in LISTED}, **{name: name for name in LISTED}}
"""Names that the log has, by the words that are typed for them, and by themselves."""


@command(
    examples=[
        ("streamops audit ls", "the last hundred actions"),
        ("streamops audit ls --target orders --since 1d -o csv", "those of a day on one stream, to export"),
        (
            "streamops audit ls --full -o jsonl",
            "with plan, state before and outcome, an action a line, to keep",
        ),
        ("streamops audit ls --operation 'groups rm'", "which groups were removed, when, and who did it"),
    ],
)
def ls(
    session: Session,
    *,
    operation: Annotated[
        str | None,
        click.Choice([*OPERATIONS]),
        option("Only this operation, such as ack or 'groups rm'.", metavar="COMMAND"),
    ] = None,
    target: Annotated[str, option("Only this stream, or this stream/group.", metavar="NAME")] = "",
    since: Since = None,
    until: Until = None,
    full: Annotated[
        bool,
        option(
            "With -o json, yaml or jsonl: each action as `audit show` does, with its plan, the state before, and its outcome."
        ),
    ] = False,
) -> None:
    """List the actions that streamops recorded on this server, newest first.

    The log keeps about the last 10,000 records. At most 100 actions are listed unless --limit is given.
    """
    if full:
        _check_full(session)
    printer = session.printer(AUDIT_COLUMNS)

    async def read(console: "Console") -> tuple[list[Action], list[Json]]:
        now = (
            await console.read_clock()
            if isinstance(since, timedelta) or isinstance(until, timedelta)
            else None
        )
        query = ActionQuery(
            operation=OPERATIONS[operation] if operation else "",
            target=target,
            start=id_at(since, now) or ZERO_ID,
            end=id_at(until, now, MAX_PART) or LAST_ID,
            limit=session.limit,
        )
        found = await find_actions(console.read_actions, query)
        return found, [await _whole(console, action) for action in found] if full else []

    actions, documents = session.run(read)
    if full:
        _write_all(documents, session.given.output)
    else:
        printer.print_rows(
            actions,
            lambda: {
                "schema": "streamops.audit.ls/1",
                "actions": [action_json(action) for action in actions],
            },
            action_json,
        )
    if not actions:
        session.narrator.note("the audit log has no such actions")


@command(
    examples=[("streamops audit show 1526919030474-0", "its plan, the state before, its outcome")],
    exits={1: "no such action"},
)
def show(session: Session, *, audit_id: Annotated[EntryId, argument("", metavar="AUDIT_ID")]) -> None:
    """Show an action's plan, the state before it, and its outcome."""
    if session.given.fields:
        raise SettingsError("--fields does not go with audit show", "Leave it out.")

    async def read(console: "Console") -> tuple[Action, Before]:
        records = await console.read_action(audit_id)
        return action_of(records), state_before(records)

    action, before = session.run(read)
    output = session.given.output
    if output is Output.CSV:
        session.printer(AUDIT_COLUMNS).print_rows([action], dict)
        return
    if output in FOR_PEOPLE:
        other = [encode(fact) for fact in before.facts]
        facts = action_facts(action, before.rows, other)
        print_facts(facts, sys.stdout, output=output, color=session.allows_color)
        return
    document = _document(action, before)
    write(document_text(document, output))


def _check_full(session: Session) -> None:
    if session.given.output not in {*DOCUMENTS, Output.JSONL}:
        raise SettingsError("--full goes with -o json, yaml and jsonl", "A table has no room for plans.")
    if session.given.fields:
        raise SettingsError("--fields does not go with --full", "Leave one of them out.")


async def _whole(console: "Console", action: Action) -> Json:
    """An action as ``show`` shows it; of what the log no longer holds, what is known."""
    try:
        records = await console.read_action(EntryId.parse(action.first.begun_id))
    except NotFound:
        return _document(action, Before((), ()))
    # Which action took it back, a later part of the log told.
    found = action_of(records)
    first = replace(found.first, undone_by=action.first.undone_by)
    return _document(Action(first, found.last), state_before(records))


def _write_all(documents: Sequence[Json], output: Output) -> None:
    if output in DOCUMENTS:
        write(document_text({"schema": "streamops.audit.ls/1", "actions": documents}, output))
        return
    for document in documents:
        write(document_text(document, output))


def _document(action: Action, before: Before) -> Json:
    intent = next(iter(plain_values(action.first.intent)), {})
    return action_document(action, before.rows, before.facts, dict(intent))
