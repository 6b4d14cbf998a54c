"""From a trigger's metadata to the pool it is about. Pure."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from streamops.autoscaler.keda.answers import named, no_pool_given, no_such_pool
from streamops.autoscaler.keda.source import Pools, PoolView, Reading
from streamops.model.safe_text import safe

KEDAS: Final = frozenset(
    {"scalerAddress", "enableTLS", "unsafeSsl", "tlsCertFile", "caCert", "tlsClientCert", "tlsClientKey"}
)
"""How KEDA reaches the scaler; it passes all of a trigger's metadata on, these too."""

OURS: Final = ("pool", "stream", "group")
FROM_ENV: Final = "FromEnv"


class BadTrigger(Exception):
    """The metadata cannot be understood; the text says what is wrong, in one line."""


class Asked(Struct, frozen=True):
    """What a trigger is about.

    Attributes:
        pool: The pool.
        view: What is known about it.
    """

    pool: str
    view: PoolView


def read_trigger(metadata: Mapping[str, str], pools: Pools) -> Asked:
    """The pool that a trigger's metadata names.

    Args:
        metadata: What stands in the ScaledObject; ``poolFromEnv`` and its like hold what KEDA found in the environment.
        pools: The pools.

    Raises:
        BadTrigger: It names no pool, or one that is not there, or whose workers do not read what it says they do.
    """
    given = {key.removesuffix(FROM_ENV): value for key, value in metadata.items() if key not in KEDAS}
    if unknown := sorted(given.keys() - set(OURS)):
        raise BadTrigger(
            f"the trigger's metadata says {named(unknown)}, which is not known; known: {named(OURS)}"
        )
    name = given.get("pool", "")
    if not name:
        raise BadTrigger(no_pool_given(pools.names()))
    view = pools.view(name)
    if view is None:
        raise BadTrigger(no_such_pool(name, pools.names()))
    _check_reads(name, view, given)
    return Asked(name, view)


def _check_reads(name: str, view: PoolView, given: Mapping[str, str]) -> None:
    """Hold what the trigger says of stream and group against what the workers read, where they tell."""
    stream, group = given.get("stream"), given.get("group")
    if view.reads and not any(_is_read(one, stream, group) for one in view.reads):
        said = named([f"{what} {given[what]}" for what in ("stream", "group") if what in given])
        there = named([f"stream {one.stream} as group {one.group}" for one in view.reads])
        raise BadTrigger(f"pool {safe(name)} is not of {said}; its workers read {there}")


def _is_read(one: Reading, stream: str | None, group: str | None) -> bool:
    return stream in {None, one.stream} and group in {None, one.group}
