"""The part of the console that tells how things are and were: the pulse, the charts, and the findings that hold."""

from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from streamops.tui import places
from streamops.tui.asking import Remember
from streamops.tui.going_app import GoingApp
from streamops.tui.subjects import Subject

DRAWN_WITHIN: Final = 0.05
"""Seconds from an observation to its first rows on the screen."""


class NoticingApp(GoingApp):
    """An app that remembers what it saw."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "pulse", "pulse", show=False, id="pulse"),
        Binding("3", "root", "groups", show=False, id="groups"),
        Binding("6", "alerts", "alerts", show=False, id="alerts"),
        Binding("g", "charts", "charts", show=False, id="charts"),
    ]

    def begin_to_notice(self) -> None:
        """Begin to remember, once the first rows are on the screen; after that it costs nothing to ask."""
        if self.moment.past is None and self.moment.observation is not None:
            # Not after a refresh of the screen: another one may lie above it by then, and it would never come.
            self.set_timer(DRAWN_WITHIN, self._begin_to_notice)

    def action_pulse(self) -> None:
        """Show how the whole is, on top of the first screen."""
        self.action_root()
        self.go(places.Pulse())

    def action_alerts(self) -> None:
        """Show the findings that hold, on top of the first screen."""
        self.action_root()
        self.go(places.Alerts())

    def action_charts(self) -> None:
        """Show the charts of the group under the cursor."""
        frame = self.frame
        subject: Subject | None = frame.subject()
        if subject is not None and subject.group is not None:
            self.go(places.Charts(subject.stream, subject.group))
        elif not isinstance(frame.place, places.Charts):
            self.say("there are charts of groups: put the cursor on one")

    # -- what screens ask for ------------------------------------------------------------------------

    def on_remember(self, message: Remember) -> None:
        """Remember a group, whoever has to give way."""
        self.live.want(message.stream, message.group)

    # -- inside --------------------------------------------------------------------------------------

    def _begin_to_notice(self) -> None:
        if self.live.begin_to_notice():
            self.pass_down()
