"""Places that are about all there is of something."""

from typing import ClassVar

from msgspec import Struct


class Whole(Struct, frozen=True):
    """A place under one crumb, or none, whose command takes no name."""

    trail: ClassVar[tuple[str, ...]] = ()
    words: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[tuple[str, ...]] = ()


class Status(Whole, frozen=True):
    """Every stream with every group: the root."""

    words = ("status",)


class Streams(Whole, frozen=True):
    """All streams, one row each."""

    trail = ("streams",)
    words = ("streams", "ls")


class Contexts(Whole, frozen=True):
    """All contexts."""

    trail = ("contexts",)
    words = ("ctx", "ls")


class Audit(Whole, frozen=True):
    """What was done to the server, newest first."""

    trail = ("audit",)
    words = ("audit", "ls")


class Jobs(Whole, frozen=True):
    """Long work: under way, interrupted, and over."""

    trail = ("jobs",)
    words = ("jobs", "ls")
