"""What is known of one context at a time, kept up to date by the poller's messages."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual.message import Message

from streamops.errors import StreamopsError
from streamops.model.observation import Health, Observation, StreamView
from streamops.model.streams import ServerInfo
from streamops.monitor.observe import fold_retries
from streamops.resources.streams import asked_for_alone
from streamops.resources.views import SavedView
from streamops.tui.polling.app_state import AppState, Loss, RunningOperation, ServerMismatch, faster, slower
from streamops.tui.polling.poller import Connected, Observed, Poller, PollFailed
from streamops.tui.source import ContextInfo, Source, TuiSettings

if TYPE_CHECKING:  # The first rows are drawn without a past.
    from streamops.tui.history.alerts import AlertMonitor

MOST_TYPED: Final = 50
"""Lines of a prompt that are remembered."""


class Live:
    """The moment that screens show, and the poller that renews it.

    Messages of a context that was left meanwhile change nothing.

    Args:
        settings: What the console was started with.
        deliver: Takes the poller's messages; whoever gets them hands them back to here.

    Attributes:
        app_state: What is known now.
        poller: What renews it; to be run by the owner.
        source: Where pages can be read; none before the first connection.
    """

    def __init__(self, settings: TuiSettings, deliver: Callable[[Message], object]) -> None:
        self._settings = settings
        self._deliver = deliver
        self._tally = HealthCounts()
        self._ever_connected = False
        self._views = dict(settings.views)
        self._typed: dict[str, tuple[str, ...]] = {}
        self.switch(settings.context, settings.every)

    def switch(self, context: ContextInfo, every: timedelta | None) -> None:
        """Forget everything and begin with another context, and with a poller of its own."""
        self._newest: Observed | None = None
        self._streams: Sequence[StreamView] = ()
        self._identity = ServerIdentity()
        self.source: Source | None = None
        self.poller = Poller(context.name, self._settings.open_source, self._deliver, every)
        self._alert_monitor: AlertMonitor | None = None
        self.app_state = AppState(
            context,
            self.poller.pace,
            contexts=self._settings.contexts,
            views=self._views,
            typed=self._typed,
            keymap=self._settings.keymap,
        )

    def find_context(self, name: str) -> ContextInfo | None:
        """A context by its name; None if there is no such one."""
        return next((context for context in self._settings.contexts if context.name == name), None)

    # -- what the poller says ------------------------------------------------------------------------

    def take_connection(self, message: Connected) -> None:
        """Pages can be read from now on."""
        if self._is_of_this_context(message):
            self.source = message.source
            self._ever_connected = True

    def take_observation(self, message: Observed) -> None:
        """The newest observation is the moment's, unless the screen is frozen."""
        if not self._is_of_this_context(message):
            return
        self._newest = message
        mismatch = self._identity.see(message.observation.snapshot.server)
        self.app_state = replace(self.app_state, loss=None, mismatch=mismatch)
        self._streams = fold_retries(message.observation.streams)
        self._notice(message.observation)
        if not self.app_state.frozen:
            self._show(message)

    def start_history(self) -> bool:
        """From the first observation on, note what charts and alerts need; say whether that is new."""
        observation = self.app_state.observation
        if self._alert_monitor is not None or observation is None:
            return False
        from streamops.tui.history.alerts import AlertMonitor  # noqa: PLC0415 - the first rows are drawn without it

        self._alert_monitor = AlertMonitor()
        self._notice(observation)
        self.app_state = replace(
            self.app_state, past=self._alert_monitor.past, alerts=self._alert_monitor.firing
        )
        return True

    def take_loss(self, message: PollFailed) -> StreamopsError | None:
        """Note the loss; return the failure where there never was a connection to anything."""
        if not self._is_of_this_context(message):
            return None
        self.app_state = replace(self.app_state, loss=message.loss)
        return None if self._ever_connected else message.error

    def break_off(self, error: BaseException | None) -> None:
        """Note a failure that nobody foresaw and that ended the poller."""
        reason = f"internal error: {type(error).__name__}: {error}"
        self.app_state = replace(self.app_state, loss=Loss(reason, "r tries again", None))

    def take_all_running(self, deeds: tuple[RunningOperation, ...]) -> None:
        """Note how far what is being done to the server is."""
        self.app_state = replace(self.app_state, deeds=deeds)

    # -- what the person says ------------------------------------------------------------------------

    def accept_server(self) -> None:
        """Take the server that answers for the one that is meant."""
        self._identity.accept()
        self.app_state = replace(self.app_state, mismatch=None)

    def freeze(self) -> None:
        """Keep the moment as it is, or take what is newest; polling and history go on meanwhile."""
        self.app_state = replace(self.app_state, frozen=not self.app_state.frozen)
        if not self.app_state.frozen and self._newest is not None:
            self._show(self._newest)

    def remember(self, sign: str, text: str) -> None:
        """Note what was typed into a prompt, so that it can be had again."""
        known = [line for line in self._typed.get(sign, ()) if line != text]
        self._typed = {**self._typed, sign: (*known, text)[-MOST_TYPED:]}
        self.app_state = replace(self.app_state, typed=self._typed)

    def add_view(self, name: str, view: SavedView) -> None:
        """Note a view that was saved."""
        self._views = {**self._views, name: view}
        self.app_state = replace(self.app_state, views=self._views)

    def slow_down(self) -> None:
        """Poll less often."""
        self.app_state = replace(self.app_state, pace=self.poller.choose(slower(self.app_state.pace.chosen)))

    def speed_up(self) -> None:
        """Poll more often."""
        self.app_state = replace(self.app_state, pace=self.poller.choose(faster(self.app_state.pace.chosen)))

    def focus(self, *, focused: bool) -> None:
        """Poll as chosen while somebody looks, and less while nobody does."""
        self.app_state = replace(self.app_state, pace=self.poller.focus(focused=focused))

    def want(self, stream: str, group: str) -> None:
        """Remember a group for its charts, however many there are."""
        if self._alert_monitor is not None:
            self._alert_monitor.past.want(stream, group)

    # -- inside --------------------------------------------------------------------------------------

    def _notice(self, observation: Observation) -> None:
        """Note what charts and alerts need, whether it is shown or not."""
        if self._alert_monitor is not None:
            self._alert_monitor.take(observation, self._streams, self.app_state.pace.interval)

    def _is_of_this_context(self, message: Connected | Observed | PollFailed) -> bool:
        return message.context == self.app_state.context.name

    def _show(self, message: Observed) -> None:
        self.app_state = replace(
            self.app_state,
            observation=message.observation,
            streams=self._streams,
            arrived=message.arrived,
            pace=message.pace,
            tally=self._tally.count(self._streams),
            alerts=() if self._alert_monitor is None else self._alert_monitor.firing,
        )


class HealthCounts:
    """Counts the rows of the first screen by health: groups, and streams without groups."""

    def __init__(self) -> None:
        self._streams: Sequence[StreamView] = ()
        self._counts = [0] * len(Health)

    def count(self, streams: Sequence[StreamView]) -> dict[Health, int]:
        """The groups of streams by health; nothing of a health that none is in."""
        before, self._streams = self._streams, streams
        if len(before) == len(self._streams):
            # Two observations share every stream that did not change, at the same place.
            for old, new in zip(before, self._streams, strict=True):
                if old is not new:
                    self._add(old, -1)
                    self._add(new, 1)
        else:
            self._counts = [0] * len(Health)
            for stream in self._streams:
                self._add(stream, 1)
        return {health: number for health, number in zip(Health, self._counts, strict=True) if number}

    def _add(self, stream: StreamView, number: int) -> None:
        if asked_for_alone(stream):
            return
        if not stream.groups:
            self._counts[stream.health] += number
        for group in stream.groups:
            self._counts[group.health] += number


NO_ID: Final = "0" * 40
"""What a server without a second replication ID says in its place."""


class ServerIdentity:
    """Knows a server by its replication IDs, whatever its address.

    A primary that took over in a failover still knows the ID of the one before it, so it is the same server; so is a
    cluster as long as one of its primaries is. A server that was restarted from its file is known on versions that keep
    their ID there; one that came up empty is another, which is what the person must know before anything is written.
    """

    def __init__(self) -> None:
        self._known: frozenset[str] = frozenset()
        self._answers: frozenset[str] = frozenset()

    def see(self, server: ServerInfo) -> ServerMismatch | None:
        """Compare a server that answered with the one that is known; None if it is the same, or is not known."""
        ids = frozenset(one for node in server.nodes for one in node.replication_ids) - {NO_ID}
        if not ids:
            return self._mismatch()
        self._answers = ids
        if not self._known or ids & self._known:
            self._known = ids
        return self._mismatch()

    def accept(self) -> None:
        """From now on the server that answers is the one that is known."""
        self._known = self._answers

    def _mismatch(self) -> ServerMismatch | None:
        if self._answers & self._known or not self._answers:
            return None
        return ServerMismatch(tuple(sorted(self._known)), tuple(sorted(self._answers)))
