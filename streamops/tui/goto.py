"""From what a person typed after the colon to a place. Pure."""

from typing import Final, TypeAlias

from msgspec import Struct

from streamops.model.observation import Observation, StreamView
from streamops.present.text import safe
from streamops.tui import places
from streamops.tui.places import Place

SHOWN: Final = 3


class Switch(Struct, frozen=True):
    """Switch to another context."""

    context: str


class Quit(Struct, frozen=True):
    """Leave."""


class Nowhere(Struct, frozen=True):
    """There is no such place, and why."""

    reason: str


Goal: TypeAlias = Place | Switch | Quit | Nowhere
WORDS: Final[dict[str, Goal]] = {
    "status": places.Status(),
    "groups": places.Status(),
    "streams": places.Streams(),
    "audit": places.Audit(),
    "jobs": places.Jobs(),
    "ctx": places.Contexts(),
    "contexts": places.Contexts(),
    "q": Quit(),
    "quit": Quit(),
}


def parse_goal(text: str, observation: Observation | None) -> Goal:
    """Find the place that a text means: a word, ``ctx NAME``, a stream, a stream and a group, or a unique part of one."""
    text = text.strip()
    if text in WORDS:
        return WORDS[text]
    word, _, rest = text.partition(" ")
    if word in ("ctx", "context") and rest.strip():
        return Switch(rest.strip())
    streams = () if observation is None else observation.streams
    return _exact(text, streams) or _unique(text, streams)


def _exact(text: str, streams: tuple[StreamView, ...]) -> Goal | None:
    for stream in streams:
        name = stream.stream.name
        if text == name:
            return places.Stream(name)
        if text.startswith((f"{name} ", f"{name}/")):
            for group in stream.groups:
                if text[len(name) + 1 :].strip() == group.group.name:
                    return places.Group(name, group.group.name)
    return None


def _unique(text: str, streams: tuple[StreamView, ...]) -> Goal:
    part = text.casefold()
    found: list[Place] = [
        places.Stream(stream.stream.name) for stream in streams if part in stream.stream.name.casefold()
    ]
    if not found:
        groups = (group for stream in streams for group in stream.groups)
        found = [
            places.Group(group.stream, group.group.name)
            for group in groups
            if part in group.group.name.casefold()
        ]
    if len(found) == 1:
        return found[0]
    if not found:
        return Nowhere(f"no stream, group or word like {safe(text)}")
    names = ", ".join(safe(" ".join(place.trail)) for place in found[:SHOWN])
    return Nowhere(f"{len(found)} places like {safe(text)}: {names}{', …' if len(found) > SHOWN else ''}")
