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


class Views(Whole, frozen=True):
    """All saved views."""

    trail = ("views",)
    words = ("config", "show")


class Audit(Whole, frozen=True):
    """What was done to the server, newest first."""

    trail = ("audit",)
    words = ("audit", "ls")


class Jobs(Whole, frozen=True):
    """Long work: under way, interrupted, and over."""

    trail = ("jobs",)
    words = ("jobs", "ls")


class DeadLetters(Whole, frozen=True):
    """All dead-letter queues."""

    trail = ("dead letters",)
    words = ("dlq", "ls")


class DelayedQueues(Whole, frozen=True):
    """All queues of delayed messages."""

    trail = ("delayed",)
    words = ("delayed", "ls")


class Topics(Whole, frozen=True):
    """All topics of HTTP callbacks."""

    trail = ("topics",)
    words = ("topics", "ls")


class Workers(Whole, frozen=True):
    """All worker processes, and their pools."""

    trail = ("workers",)
    words = ("workers", "ls")


class Pools(Whole, frozen=True):
    """All pools of workers that are scaled."""

    trail = ("pools",)
    words = ("autoscale", "ls")


class Pulse(Whole, frozen=True):
    """How the whole is, on one page."""

    trail = ("pulse",)
    words = ("status",)


class Alerts(Whole, frozen=True):
    """The findings that hold."""

    trail = ("alerts",)
    words = ("alerts", "ls")
