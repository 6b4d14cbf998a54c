"""``streamops trim``: one stream by hand, or those that the configuration has policies for."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec.structs import replace

from streamops.cli.acting.choices import Choices, ask, can_ask, take_choices
from streamops.cli.acting.command import ActingCommand, acting_command
from streamops.cli.acting.printing import ProgressPrinter
from streamops.cli.params import DURATION
from streamops.cli.printer import Printer
from streamops.cli.session import Session, with_session
from streamops.errors import ExitCode, Forbidden, SettingsError, StreamopsError
from streamops.model.acting import Confirmation, Impact, Plan
from streamops.model.retention import RetentionRow
from streamops.model.wording import counted
from streamops.operations.confirmation import ConfirmationPolicy, required_confirmation
from streamops.operations.retention import PolicyTrim, apply_retention, prepare_retention
from streamops.operations.trim.intent import TrimIntent
from streamops.resources.retention import RETENTION_COLUMNS
from streamops.resources.table import values_json
from streamops.service.signals import stopped_by_ctrl_c

if TYPE_CHECKING:
    from streamops.operations.console import Console

_BY_HAND: Final = acting_command(TrimIntent)


@with_session
def _trim(session: Session, /, *, policies: bool, every: timedelta | None, **values: Any) -> Any:  # noqa: ANN401 - as the command by hand has it
    ctx = click.get_current_context()
    if policies:
        if given := [
            name for name in ("stream", "maxlen", "minid", "before", "backup") if values[name] is not None
        ]:
            raise click.UsageError(
                f"--policies says which streams and how far: leave out {', '.join(given)}", ctx
            )
        if values["exact"] or not values["safe"]:
            raise click.UsageError(
                "--policies say themselves whether they are exact, and are always safe", ctx
            )
        # Only who has policies pays for them.
        return trim_by_policies(session, take_choices(values), every)
    if every is not None:
        raise click.UsageError("--every goes with --policies", ctx)
    if values["stream"] is None:
        raise click.UsageError("name a stream, or give --policies", ctx)
    return _BY_HAND.callback(**values) if _BY_HAND.callback else None


def _params() -> list[click.Parameter]:
    for param in _BY_HAND.params:
        if param.name == "stream":
            param.required = False
    return [
        *_BY_HAND.params,
        click.Option(
            ["--policies"], is_flag=True, help="Apply the [[retention]] tables of the configuration."
        ),
        click.Option(
            ["--every"],
            type=DURATION,
            metavar="SPAN",
            help="With --policies: repeat at this interval until stopped.",
        ),
    ]


trim = ActingCommand(
    "trim",
    callback=_trim,
    params=_params(),
    help=_BY_HAND.help,
    examples=_BY_HAND.examples,
    exits=_BY_HAND.exits,
    rated=True,
)


MOST: Final = 10**15
"""A policy is agreed to beforehand: it may remove any number of entries unless --max says otherwise."""


def trim_by_policies(session: Session, choices: Choices, every: timedelta | None) -> ExitCode:
    """Trim as the policies of the configuration say.

    Raises:
        StreamopsError: There is no policy, it was not confirmed, or the streams cannot be listed.
    """
    policies = session.settings.tables.retention
    if not policies:
        raise SettingsError(
            "the configuration has no [[retention]] table", "`streamops config example` shows one."
        )
    if choices.limits.expect is not None:
        raise SettingsError("--expect counts one plan", "Give it with one stream; --max holds for each.")
    if choices.limits.fingerprint:
        raise SettingsError("--plan is of one plan", "Give it with one stream.")
    work = _Work(session, choices)
    patterns = [pattern for policy in policies for pattern in policy.streams]
    if every is None:
        return work.once(patterns)
    if not choices.confirmation.yes or choices.dry_run:
        raise Forbidden(
            "trim --every cannot ask for confirmation each time", "Confirm beforehand with --yes."
        )
    return session.run(lambda console: work.repeat(console, every), patterns)


class _Work:
    """One call of the command."""

    def __init__(self, session: Session, choices: Choices) -> None:
        self._session = session
        self._choices = choices
        limits = choices.limits
        self._limits = replace(limits, max_count=MOST if limits.max_count is None else limits.max_count)
        self._printer: Printer[RetentionRow] = session.printer(RETENTION_COLUMNS)

    def once(self, patterns: Sequence[str]) -> ExitCode:
        """Plan, ask where somebody is there, trim, and print what became of it."""
        trims = self._session.run(self._prepare, patterns)
        if self._choices.dry_run:
            return self._print([trim.row for trim in trims])
        confirmation = self._agreed(trims)

        async def apply(console: "Console") -> list[RetentionRow]:
            return await self._apply(console, trims, confirmation)

        return self._print(self._session.run(apply, patterns))

    async def repeat(self, console: "Console", every: timedelta) -> ExitCode:
        """Trim round after round until somebody stops it, a line each."""
        number = 0
        with stopped_by_ctrl_c() as stop:
            while not stop.is_set():
                number += 1
                self._session.narrator.note(f"round {number}: {await self._round(console, stop)}")
                with suppress(TimeoutError):
                    async with asyncio.timeout(every.total_seconds()):
                        await stop.wait()
        return ExitCode.DONE

    async def _round(self, console: "Console", stop: asyncio.Event) -> str:
        try:
            trims = await self._prepare(console)
            rows = await apply_retention(console, trims, self._choices.confirmation, stop=stop)
        except StreamopsError as error:
            return f"error: {error.message}"
        return _summary(rows)

    async def _prepare(self, console: "Console") -> list[PolicyTrim]:
        if not self._choices.dry_run:
            console.engine.forbid_if_read_only()
        return await prepare_retention(console, self._session.settings.tables.retention, self._limits)

    def _agreed(self, trims: Sequence[PolicyTrim]) -> Confirmation:
        """The answer; asked for once for all streams, after what each comes to."""
        policy = _policy(self._session, trims)
        confirmation = self._choices.confirmation
        if policy.accepts(confirmation):
            return confirmation
        if not can_ask(self._session):
            raise Forbidden("trim --policies: not confirmed", "Nothing was done. Apply with --yes.")
        for trim in trims:
            self._session.narrator.note(_line(trim.row))
        confirmation = ask(policy)
        if not policy.accepts(confirmation):
            raise Forbidden("trim --policies: not confirmed", "Nothing was done.")
        return Confirmation(yes=True)

    async def _apply(
        self, console: "Console", trims: Sequence[PolicyTrim], confirmation: Confirmation
    ) -> list[RetentionRow]:
        teller = ProgressPrinter(self._session)
        try:
            with stopped_by_ctrl_c() as stop:
                return await apply_retention(console, trims, confirmation, teller, stop)
        finally:
            teller.end()

    def _print(self, rows: Sequence[RetentionRow]) -> ExitCode:
        self._printer.print_list(
            "trim.policies", "streams", rows, lambda row: values_json(RETENTION_COLUMNS, row), flat=True
        )
        self._session.narrator.note(_summary(rows))
        failed = any(row.problem for row in rows) and not self._choices.dry_run
        return ExitCode.PARTIAL if failed else ExitCode.DONE


def _policy(session: Session, trims: Sequence[PolicyTrim]) -> ConfirmationPolicy:
    """What all of the plans together need."""
    count = sum(trim.row.removable for trim in trims)
    plan = Plan(operation="trim", target="policies", impact=Impact.REDELIVERS, count=count)
    return required_confirmation(plan, session.settings.environment)


def _line(row: RetentionRow) -> str:
    if row.problem:
        return f"{row.stream}: {row.problem}"
    held = f"; held back by {row.held_back_by}" if row.held_back_by else ""
    return f"{row.stream} {row.bound}: at most {counted(row.removable, 'entry', 'entries')} go{held}"


def _summary(rows: Sequence[RetentionRow]) -> str:
    streams = len({row.stream for row in rows})
    parts = [counted(streams, "stream", "streams")]
    tried = [row.removed for row in rows if row.removed is not None]
    if tried:
        parts.append(f"{counted(sum(tried), 'entry', 'entries')} removed")
    if held := [row.stream for row in rows if row.held_back_by]:
        parts.append(f"{len(set(held)):,} held back")
    if failed := [row for row in rows if row.problem]:
        parts.append(f"{len(failed):,} failed, the first: {failed[0].problem}")
    return ", ".join(parts)
