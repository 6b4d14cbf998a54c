"""The Python API and the console on a screen, each looking again and again."""

import asyncio
from datetime import timedelta
from time import monotonic
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.streams import Snapshot
from streamops.operations.console import Console
from streamops.resources.groups import GroupRow
from streamops.tui.app import StreamopsApp
from streamops.tui.lines.words import NEWS_AFTER
from streamops.tui.source import ContextInfo, TuiSettings
from tests.chaos.watchers.judging import Journals, is_whole, window_of, wrong_in_snapshot
from tests.chaos.watchers.lines import Line
from tests.chaos.watchers.writer import Writer
from tests.support.tui.driving import bar, list_of

OFTEN: Final = 0.15
EVERY: Final = timedelta(seconds=1)

STALE_AFTER: Final = (EVERY + NEWS_AFTER).total_seconds()
"""Seconds after which a screen that shows nothing newer must say so."""

LOOKS: Final = 20
"""So many looks in a row at a screen that does not are too many."""


class Snapshots:
    """Snapshots of one watcher, judged later, when the truth of their time is known.

    Attributes:
        name: The watcher's name.
        line: Its way to the server.
        problems: What was wrong.
        judged: How many were held against the truth.
    """

    def __init__(self, name: str, line: Line) -> None:
        self.name = name
        self.line = line
        self.problems: list[str] = []
        self.judged = 0
        self._taken: list[Snapshot] = []
        self._last: Snapshot | None = None

    def take(self, snapshot: Snapshot) -> None:
        """One more."""
        self._taken.append(snapshot)
        self._last = snapshot

    def judge(self, journals: Journals) -> None:
        """Hold what was shown against the truth, as far as that is known by now."""
        taken, self._taken = self._taken, []
        self.judged += len(taken)
        for snapshot in taken:
            self.problems += wrong_in_snapshot(snapshot, journals)

    def is_right(self, journals: Journals, since: float) -> bool:
        """Whether the last one was collected since then, and all of the truth is in it."""
        last = self._last
        return last is not None and window_of(last).start >= since and is_whole(last, journals)

    def shows(self) -> str:
        """What it shows now, for a message."""
        last = self._last
        if last is None:
            return "nothing"
        groups = [(stream.name, one.name, one.lag) for stream in last.streams for one in stream.groups]
        return f"{groups} of {last.collected_at}, without {last.gaps}"

    def reconcile(self, writer: Writer) -> None:
        """It counts nothing."""

    def finish(self) -> None:
        """Nothing more is to be said."""


class ConsoleWatch(Snapshots):
    """The Python API: one console that observes, whatever comes."""

    def __init__(self, line: Line) -> None:
        super().__init__("console", line)

    async def run(self) -> None:
        """Observe until cancelled; what is raised must be an error of ours."""
        async with Console.patient(self.line.options) as console:
            console.start_discovery()
            while True:
                try:
                    self.take((await console.observe()).snapshot)
                except StreamopsError as error:
                    self._check(error)
                await asyncio.sleep(OFTEN)

    def _check(self, error: StreamopsError) -> None:
        if not error.message or not error.hint or "\n" in error.message + error.hint:
            self.problems.append(f"an error that says too little or too much: {error!r}")


class ScreenWatch(Snapshots):
    """The console on a screen of its own.

    Attributes:
        app: The console.
    """

    def __init__(self, line: Line) -> None:
        super().__init__("screen", line)
        label = line.options.label
        context = ContextInfo("test", "development", label, label)
        settings = TuiSettings(
            context,
            (context,),
            lambda _: Console.open(line.options),
            EVERY,
        )
        self.app = StreamopsApp(settings)
        self._silent = 0

    async def run(self) -> None:
        """Look at the screen until cancelled."""
        async with self.app.run_test(size=(120, 40), notifications=True):
            while True:
                app_state = self.app.app_state
                observation = app_state.observation
                if observation is not None and observation.snapshot is not self._last:
                    self.take(observation.snapshot)
                elif observation is not None and monotonic() - app_state.arrived > STALE_AFTER:
                    self._must_say_old()
                else:
                    self._silent = 0
                await asyncio.sleep(OFTEN)

    def is_right(self, journals: Journals, since: float) -> bool:
        """As all snapshots; and rows and bars say the same."""
        return super().is_right(journals, since) and self._shows(journals)

    def shows(self) -> str:
        """What it shows now, for a message."""
        return (
            f"{super().shows()} {self.app.app_state.loss} {bar(self.app, 'banner')} {bar(self.app, 'status')}"
        )

    def _shows(self, journals: Journals) -> bool:
        if self.app.app_state.loss is not None or "stale" in bar(self.app, "status"):
            return False
        rows = [row for row in list_of(self.app).rows if isinstance(row, GroupRow)]
        shown = {(row.stream.stream.name, row.group.group.name): row.group.group for row in rows if row.group}
        return all(
            (stream, name) in shown and shown[stream, name].lag.entries == len(truth.waiting)
            for stream, journal in journals.items()
            for name, truth in journal.now.groups.items()
        )

    def _must_say_old(self) -> None:
        banner = bar(self.app, "banner") if self.app.frame.query_one("#banner").display else ""
        told = f"{banner} {bar(self.app, 'status')}"
        says_so = " old" in told or "stretched" in told
        self._silent = 0 if says_so else self._silent + 1
        # It looks at its clock once a second, and a process that stood still has not come to that yet.
        if self._silent == LOOKS:
            self.problems.append(f"it shows what is old, and says only: {told}")
