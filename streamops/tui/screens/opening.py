"""Which screen shows which place."""

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

SCREENS: Final[dict[type[Any], type[Any]]] = {
    places.Status: StatusScreen,
    places.Streams: StreamsScreen,
    places.Stream: StreamScreen,
    places.Group: GroupScreen,
    places.Pending: PendingScreen,
    places.Entries: EntriesScreen,
    places.OneEntry: EntryScreen,
    places.Contexts: ContextsScreen,
}


def screen_for(place: Place, moment: Moment) -> Frame:
    """A new screen for a place."""
    screen: Frame = SCREENS[type(place)](place, moment)
    return screen
