"""Which screen shows which place."""

from collections.abc import Callable
from typing import Any, Final

from streamops.tui import places
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.contexts import ContextsScreen
from streamops.tui.screens.entries import EntriesScreen
from streamops.tui.screens.entry import EntryScreen
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.group import GroupScreen
from streamops.tui.screens.pending import PendingScreen
from streamops.tui.screens.status import StatusScreen
from streamops.tui.screens.stream import StreamScreen
from streamops.tui.screens.streams import StreamsScreen


def _audit(place: places.Audit, moment: Moment) -> Frame:
    from streamops.tui.screens.audit import AuditScreen  # noqa: PLC0415 - the first screen needs none of it

    return AuditScreen(place, moment)


def _action(place: places.OneAction, moment: Moment) -> Frame:
    from streamops.tui.screens.action import ActionScreen  # noqa: PLC0415 - as above

    return ActionScreen(place, moment)


def _jobs(place: places.Jobs, moment: Moment) -> Frame:
    from streamops.tui.screens.jobs import JobsScreen  # noqa: PLC0415 - as above

    return JobsScreen(place, moment)


def _job(place: places.OneJob, moment: Moment) -> Frame:
    from streamops.tui.screens.job import JobScreen  # noqa: PLC0415 - as above

    return JobScreen(place, moment)


SCREENS: Final[dict[type[Any], Callable[[Any, Moment], Frame]]] = {
    places.Status: StatusScreen,
    places.Streams: StreamsScreen,
    places.Stream: StreamScreen,
    places.Group: GroupScreen,
    places.Pending: PendingScreen,
    places.Entries: EntriesScreen,
    places.OneEntry: EntryScreen,
    places.Contexts: ContextsScreen,
    places.Audit: _audit,
    places.OneAction: _action,
    places.Jobs: _jobs,
    places.OneJob: _job,
}


def screen_for(place: Place, moment: Moment) -> Frame:
    """A new screen for a place."""
    return SCREENS[type(place)](place, moment)
