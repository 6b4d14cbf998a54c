"""What is known of one context at a time, kept up to date by the poller's messages."""

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace
from textual.message import Message

from streamops.errors import StreamopsError
from streamops.tui.deed import Deed
from streamops.tui.moment import Loss, Moment
from streamops.tui.pace import faster, slower
from streamops.tui.poller import Connected, Lost, Observed, Poller
from streamops.tui.source import ContextInfo, Source, TuiSettings
from streamops.tui.tally import Tally


class Live:
    """The moment that screens show, and the poller that renews it.

    Messages of a context that was left meanwhile change nothing.

    Args:
        settings: What the console was started with.
        deliver: Takes the poller's messages; whoever gets them hands them back to here.

    Attributes:
        moment: What is known now.
        poller: What renews it; to be run by the owner.
        source: Where pages can be read; none before the first connection.
    """

    def __init__(self, settings: TuiSettings, deliver: Callable[[Message], object]) -> None:
        self._settings = settings
        self._deliver = deliver
        self._tally = Tally()
        self._ever_connected = False
        self.switch(settings.context, settings.every)

    def switch(self, context: ContextInfo, every: timedelta | None) -> None:
        """Forget everything and begin with another context, and with a poller of its own."""
        self._newest: Observed | None = None
        self.source: Source | None = None
        self.poller = Poller(context.name, self._settings.open_source, self._deliver, every)
        self.moment = Moment(context, self.poller.pace, contexts=self._settings.contexts)

    def find_context(self, name: str) -> ContextInfo | None:
        """A context by its name; none where there is no such one."""
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
        self.moment = replace(self.moment, loss=None)
        if not self.moment.frozen:
            self._show(message)

    def take_loss(self, message: Lost) -> StreamopsError | None:
        """Note the loss; return the failure where there never was a connection to anything."""
        if not self._is_of_this_context(message):
            return None
        self.moment = replace(self.moment, loss=message.loss)
        return None if self._ever_connected else message.error

    def break_off(self, error: BaseException | None) -> None:
        """Note a failure that nobody foresaw and that ended the poller."""
        reason = f"internal error: {type(error).__name__}: {error}"
        self.moment = replace(self.moment, loss=Loss(reason, "r tries again", None))

    def take_deeds(self, deeds: tuple[Deed, ...]) -> None:
        """Note how far what is being done to the server is."""
        self.moment = replace(self.moment, deeds=deeds)

    # -- what the person says ------------------------------------------------------------------------

    def freeze(self) -> None:
        """Keep the moment as it is, or take what is newest; polling and history go on meanwhile."""
        self.moment = replace(self.moment, frozen=not self.moment.frozen)
        if not self.moment.frozen and self._newest is not None:
            self._show(self._newest)

    def slow_down(self) -> None:
        """Poll less often."""
        self.moment = replace(self.moment, pace=self.poller.choose(slower(self.moment.pace.chosen)))

    def speed_up(self) -> None:
        """Poll more often."""
        self.moment = replace(self.moment, pace=self.poller.choose(faster(self.moment.pace.chosen)))

    def focus(self, *, focused: bool) -> None:
        """Poll as chosen while somebody looks, and less while nobody does."""
        self.moment = replace(self.moment, pace=self.poller.focus(focused=focused))

    # -- inside --------------------------------------------------------------------------------------

    def _is_of_this_context(self, message: Connected | Observed | Lost) -> bool:
        return message.context == self.moment.context.name

    def _show(self, message: Observed) -> None:
        self.moment = replace(
            self.moment,
            observation=message.observation,
            arrived=message.arrived,
            pace=message.pace,
            tally=self._tally.count(message.observation),
        )
