"""Which screen shows which place, each imported when it is first opened."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from streamops.tui import places
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.frame import Frame

_AT: Final = "streamops.tui.screens"
SCREENS: Final[dict[type[Any], str]] = {
    places.Status: f"{_AT}.status:StatusScreen",
    places.Pulse: f"{_AT}.pulse:PulseScreen",
    places.Alerts: f"{_AT}.alerts:AlertsScreen",
    places.Charts: f"{_AT}.charts:ChartsScreen",
    places.Streams: f"{_AT}.streams:StreamsScreen",
    places.Stream: f"{_AT}.stream:StreamScreen",
    places.Group: f"{_AT}.group:GroupScreen",
    places.Pending: f"{_AT}.pending:PendingScreen",
    places.Entries: f"{_AT}.entries:EntriesScreen",
    places.OneEntry: f"{_AT}.entry:EntryScreen",
    places.Search: f"{_AT}.search:SearchScreen",
    places.Views: f"{_AT}.views:ViewsScreen",
    places.Contexts: f"{_AT}.contexts:ContextsScreen",
    places.Audit: f"{_AT}.audit:AuditScreen",
    places.OneAction: f"{_AT}.action:ActionScreen",
    places.Jobs: f"{_AT}.jobs:JobsScreen",
    places.OneJob: f"{_AT}.job:JobScreen",
    places.DeadLetters: f"{_AT}.dead_letters:DeadLettersScreen",
    places.Letters: f"{_AT}.letters:LettersScreen",
    places.OneLetter: f"{_AT}.letter:LetterScreen",
    places.DelayedQueues: f"{_AT}.delayed_queues:DelayedQueuesScreen",
    places.Delayed: f"{_AT}.delayed:DelayedScreen",
    places.OneDelayed: f"{_AT}.delayed_message:DelayedMessageScreen",
    places.Topics: f"{_AT}.topics:TopicsScreen",
    places.OneTopic: f"{_AT}.topic:TopicScreen",
    places.Pools: f"{_AT}.pools:PoolsScreen",
    places.OnePool: f"{_AT}.pool:PoolScreen",
    places.Workers: f"{_AT}.workers:WorkersScreen",
    places.OneWorker: f"{_AT}.worker:WorkerScreen",
    places.Trace: f"{_AT}.trace:TraceScreen",
}


def screen_for(place: Place, moment: Moment) -> Frame:
    """A new screen for a place."""
    module, name = SCREENS[type(place)].split(":")
    screen: Callable[[Place, Moment], Frame] = getattr(import_module(module), name)
    return screen(place, moment)
