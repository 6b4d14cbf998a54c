"""From what a person typed after the colon to a place, and back. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from streamops.model.entries import EntryId
from streamops.model.observation import Observation, StreamView
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.routes import Route

SHOWN: Final = 3
PENDING: Final = "pending"
TAIL: Final = "tail"


class Switch(Struct, frozen=True):
    """Switch to another context."""

    context: str


class ShowView(Struct, frozen=True):
    """Open a saved view; the list of them where it has no name."""

    name: str = ""


class SaveView(Struct, frozen=True):
    """Save the list on the screen as a view."""

    name: str


class Quit(Struct, frozen=True):
    """Leave."""


class Nowhere(Struct, frozen=True):
    """There is no such place, and why."""

    reason: str


class FindEntry(Struct, frozen=True):
    """Find the stream that has an entry.

    Attributes:
        id: The entry's ID.
        streams: Where it may be by their first and last IDs; that where one stands first.
    """

    id: EntryId
    streams: tuple[str, ...]


Goal: TypeAlias = Route | FindEntry | Switch | ShowView | SaveView | Quit | Nowhere
WORDS: Final[dict[str, Goal]] = {
    "status": routes.StatusRoute(),
    **{place.typed: place() for place in Route.__subclasses__() if place.typed},
    "views": ShowView(),
    "view": ShowView(),
    "contexts": routes.ContextsRoute(),
    "q": Quit(),
    "quit": Quit(),
}
VERBS: Final = ("ctx", "context", "view", "save")
"""Words that take a name."""


def parse_goal(text: str, observation: Observation | None, here: str | None = None) -> Goal:
    """Find the place that a text means.

    A word, ``ctx NAME``, ``view NAME``, ``save NAME``; a stream, or a unique part of its name; after a stream a
    group, ``tail`` or an entry's ID; after a group a consumer or ``pending``; and an ID alone.

    Args:
        text: What was typed.
        observation: What is known of streams and groups.
        here: The stream one stands at, which an ID alone is looked for in first.
    """
    text = text.strip()
    if text in WORDS:
        return WORDS[text]
    streams = () if observation is None else observation.streams
    return _exact(text, streams) or _with_name(text) or _by_id(text, here, streams) or _unique(text, streams)


def text_of(place: Route) -> str | None:
    """What is typed to get to a place; None if that cannot be typed."""
    match place:
        case routes.StreamRoute(stream):
            return stream
        case routes.GroupRoute(stream, group):
            return f"{stream} {group}"
        case routes.PendingRoute(stream, group, consumer):
            return f"{stream} {group} {PENDING if consumer is None else consumer}"
        case routes.EntriesRoute(stream):
            return f"{stream} {TAIL}"
        case routes.EntryRoute(stream, entry_id):
            return f"{stream} {entry_id}"
    return next((word for word, goal in WORDS.items() if goal == place), None)


def completions(observation: Observation | None, views: Iterable[str], contexts: Iterable[str]) -> list[str]:
    """What a line after the colon may become, the likely first; only what a person can type."""
    streams = () if observation is None else observation.streams
    names = [
        *WORDS,
        *(stream.stream.name for stream in streams),
        *(f"{group.stream} {group.group.name}" for stream in streams for group in stream.groups),
        *(f"view {name}" for name in views),
        *(f"ctx {name}" for name in contexts),
    ]
    # Completion of an escaped name would name another stream.
    return [name for name in names if name.isprintable()]


def _with_name(text: str) -> Goal | None:
    word, _, rest = text.partition(" ")
    if word not in VERBS:
        return None
    name = rest.strip()
    if not name:
        return Nowhere(f"{word} NAME: the name is missing")
    match word:
        case "view":
            return ShowView(name)
        case "save":
            return SaveView(name)
        case _:
            return Switch(name)


def _by_id(text: str, here: str | None, streams: tuple[StreamView, ...]) -> Goal | None:
    if "-" not in text or (entry_id := _entry_id(text)) is None:
        return None
    others = tuple(
        view.stream.name for view in streams if view.stream.name != here and _may_hold(view, entry_id)
    )
    if others:
        return FindEntry(entry_id, others if here is None else (here, *others))
    return None if here is None else routes.EntryRoute(here, entry_id)


def _may_hold(view: StreamView, entry_id: EntryId) -> bool:
    first, last = view.stream.first_id, view.stream.last_id
    return first is not None and last is not None and first <= entry_id <= last


def _exact(text: str, streams: tuple[StreamView, ...]) -> Goal | None:
    """The place whose names the text has in full; the longest names first, since names may hold spaces."""
    found: list[tuple[int, Goal]] = []
    for stream in streams:
        name = stream.stream.name
        if text == name:
            return routes.StreamRoute(name)
        if text.startswith((f"{name} ", f"{name}/")):
            goal = _in_stream(stream, text[len(name) + 1 :].strip())
            found += [(len(name), goal)] if goal is not None else []
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _in_stream(stream: StreamView, rest: str) -> Goal | None:
    name = stream.stream.name
    groups = [view.group.name for view in stream.groups]
    if rest in groups:
        return routes.GroupRoute(name, rest)
    for group in sorted(groups, key=len, reverse=True):
        if rest.startswith((f"{group} ", f"{group}/")):
            consumer = rest[len(group) + 1 :].strip()
            return routes.PendingRoute(name, group, None if consumer == PENDING else consumer)
    if rest == TAIL:
        return routes.EntriesRoute(name)
    entry_id = _entry_id(rest)
    return None if entry_id is None else routes.EntryRoute(name, entry_id)


def _no_part(text: str, streams: tuple[StreamView, ...]) -> Nowhere | None:
    """Why what stands after a stream's name is nothing in it."""
    found = [view for view in streams if text.startswith(f"{view.stream.name} ")]
    if not found:
        return None
    name = max((view.stream.name for view in found), key=len)
    rest = text[len(name) + 1 :].strip()
    return Nowhere(f"{safe(rest)} is neither a group of {safe(name)} nor an entry ID such as 1526919030474-0")


def _entry_id(text: str) -> EntryId | None:
    try:
        return EntryId.parse(text) if text else None
    except ValueError:
        return None


def _unique(text: str, streams: tuple[StreamView, ...]) -> Goal:
    found = list(_like(text.casefold(), streams))
    if len(found) == 1:
        return found[0]
    if not found:
        return _no_part(text, streams) or Nowhere(f"no stream, group or screen matches {safe(text)}")
    names = ", ".join(safe(" ".join(place.breadcrumbs)) for place in found[:SHOWN])
    return Nowhere(
        f"{len(found)} matches for {safe(text)}: {names}{', …' if len(found) > SHOWN else ''}; → takes the suggestion"
    )


def _like(part: str, streams: tuple[StreamView, ...]) -> Iterator[Route]:
    """Streams that hold the part in their names; groups where no stream does."""
    held = [view for view in streams if part in view.stream.name.casefold()]
    if held:
        yield from (routes.StreamRoute(view.stream.name) for view in held)
        return
    for stream in streams:
        for group in stream.groups:
            if part in group.group.name.casefold():
                yield routes.GroupRoute(group.stream, group.group.name)
