"""One call of a command: what was asked for, its settings, and the one place where the event loop runs."""

import logging
import math
import os
import signal
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import timedelta
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import click
from msgspec.structs import replace

from streamops.cli.globals import Globals, globals_of
from streamops.cli.printer import Printer
from streamops.cli.terminal import Narrator, start_logging
from streamops.errors import SettingsError
from streamops.operations.commands import full_command
from streamops.resources.table import Column
from streamops.settings.config import read_config
from streamops.settings.load import Flags, Settings, actor_of, load_settings, selector_of

if TYPE_CHECKING:
    from streamops.operations.console import Console
    from streamops.targets.specs import TargetSpec

DEFAULT_LIMIT: Final = 100
WATCH_EVERY: Final = 1.0
"""Seconds between two looks at the files of the configuration."""
Row = TypeVar("Row")
Answer = TypeVar("Answer")
Params = ParamSpec("Params")


class Session:
    """One call of a command.

    Attributes:
        given: The global options.
        narrator: Speaks on stderr.
    """

    def __init__(self, given: Globals) -> None:
        self.given = given
        self.narrator = Narrator(quiet=given.quiet)
        self._told: set[str] = set()
        start_logging(given.log_level)

    @property
    def limit(self) -> int:
        """The most rows of a list that may be long."""
        return self.given.limit or DEFAULT_LIMIT

    @property
    def flags(self) -> Flags:
        """The global options as settings take them."""
        timeout = self.given.timeout
        if timeout is not None and math.isnan(timeout):
            raise SettingsError("--timeout: not a number", "Write --timeout 5.")
        return Flags(
            context=self.given.context,
            url=self.given.url,
            read_only=self.given.read_only,
            timeout=None if timeout is None else timedelta(seconds=timeout),
            color=False if self.given.no_color else None,
        )

    @cached_property
    def settings(self) -> Settings:
        """The effective settings; raises ``SettingsError``."""
        settings = load_settings(self.flags, os.environ, Path.cwd())
        for warning in settings.warnings:
            self.narrator.note(f"warning: {warning}")
        self.note_once(settings.notices)
        return settings

    def note_once(self, notices: Iterable[str]) -> None:
        """Say of projects' files what was not said before."""
        for notice in notices:
            if notice not in self._told:
                self._told.add(notice)
                self.narrator.note(notice)

    def command_line(self, line: str) -> str:
        """A command line, with the options that choose the same server again; never with a password.

        Args:
            line: The command line without them, from ``streamops`` on.
        """
        return full_command(line, selector_of(self.settings))

    def printer(self, shown: Sequence[Column[Row]], details: Sequence[Column[Row]] = ()) -> Printer[Row]:
        """A printer of such rows; raises ``SettingsError`` where ``--fields`` names none of the columns."""
        return Printer(self.given, shown, details, color=self.allows_color, note=self.narrator.note)

    def run(
        self, work: Callable[["Console"], Coroutine[Any, Any, Answer]], patterns: Sequence[str] = ()
    ) -> Answer:
        """Connect, do the work and close.

        Args:
            work: What to do with the console.
            patterns: Streams to look at; none at all means those of the settings.

        Raises:
            StreamopsError: Settings cannot be understood, or the server cannot be asked.
        """
        return wait_for(self._connected(work, patterns))

    async def _connected(
        self, work: Callable[["Console"], Coroutine[Any, Any, Answer]], patterns: Sequence[str]
    ) -> Answer:
        # The same goes for redis-py.
        from streamops.operations.console import Console  # noqa: PLC0415

        settings = self.settings
        # What is named on the command line is wanted, whatever the configuration leaves out.
        watch = replace(settings.watch, streams=tuple(patterns), exclude=()) if patterns else settings.watch
        actor = actor_of(settings)
        async with await Console.open(
            settings.connection,
            watch,
            settings.tables.health,
            actor=actor,
            read_only=settings.read_only,
            find_target=self.find_target,
        ) as console:
            return await work(console)

    def find_target(self, pool: str) -> "TargetSpec | None":
        """Who runs the workers of a pool, as it is configured; none where it is not.

        Raises:
            SettingsError: What is configured makes no sense, or a secret cannot be read.
        """
        # Only who resizes pools pays for them.
        from streamops.settings.load import find_target  # noqa: PLC0415

        return find_target(pool, self.settings.context, os.environ, Path.cwd())

    def configure_logs(self, log_format: str, least: str = "info") -> int:
        """Log to stderr as long-running commands do.

        Args:
            log_format: ``text`` or ``json``.
            least: The level, unless --log-level says another one.

        Returns:
            The level, as a number of ``logging``.
        """
        from streamops.service.processes import LogFormat, configure_logs  # noqa: PLC0415 - only they pay for it

        level = logging.getLevelNamesMapping()[(self.given.log_level or least).upper()]
        configure_logs(LogFormat(log_format), level)
        return level

    def allows_color(self) -> bool:
        """Whether settings and flags allow colour."""
        # Only commands that connect have loaded settings; the others must work where those are broken.
        loaded: Settings | None = self.__dict__.get("settings")
        return not self.given.no_color and (loaded is None or loaded.tables.console.color)


async def reload_on_change() -> None:
    """Send this process SIGHUP whenever a file of the configuration is another than before."""
    import asyncio  # noqa: PLC0415 - only long-running commands pay for it

    from streamops.service.web_config import marks_of  # noqa: PLC0415 - the same

    paths = [file.path for file in read_config(os.environ, Path.cwd()).files]
    known = marks_of(paths)
    while True:
        await asyncio.sleep(WATCH_EVERY)
        now = marks_of(paths)
        if now != known:
            known = now
            os.kill(os.getpid(), signal.SIGHUP)


def wait_for(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine to its end: the one place where the event loop of a command runs."""
    # Commands that do not connect do not pay for it.
    import asyncio  # noqa: PLC0415

    return asyncio.run(work)


def with_session(
    function: Callable[Concatenate[Session, Params], Answer],
) -> Callable[Params, Answer]:
    """Hand a command's callback its session as first argument."""

    @wraps(function)
    def callback(*args: Params.args, **kwargs: Params.kwargs) -> Answer:
        return function(Session(globals_of(click.get_current_context())), *args, **kwargs)

    return callback
