"""From a trigger's metadata to the pool it is about, and what KEDA is answered, by whichever way it asks. Pure."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct

from streamops.autoscaling.keda.board import Pools, PoolView, Reading
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


TARGET: Final = 1
"""What KEDA is to divide the number of workers by."""

NAMED: Final = 10
LONGEST_NAME: Final = 100
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NUMBERED: Final = re.compile(r"s\d+-(?=streamops-)")


def is_active(view: PoolView) -> bool | None:
    """Whether a pool may have workers; none where nothing was ever known.

    A pool is never put to sleep for want of knowledge: where it is not known whether there is work, the workers that
    it should have tell.
    """
    if view.active is None and view.desired is not None:
        return view.desired > 0
    return view.active


def metric_name(pool: str) -> str:
    """The name of a pool's metric: letters, digits, ``-`` and ``_``, which may stand in a path of Kubernetes' API."""
    return f"streamops-{_ODD.sub('-', pool).strip('-') or 'pool'}"


def without_number(metric: str) -> str:
    """A metric's name without the trigger's number, which KEDA puts before it in the HPA and takes off itself."""
    return _NUMBERED.sub("", metric, count=1)


def not_known(pool: str, view: PoolView) -> str:
    """Why there is no number, in a sentence."""
    return safe(f"how many workers pool {pool} should have is not known: {view.reason}")


def no_such_pool(pool: str, known: Collection[str]) -> str:
    """That there is no such pool, and which ones there are."""
    return f"no pool {safe(pool[:LONGEST_NAME])}; {_known(known)}"


def no_pool_given(known: Collection[str]) -> str:
    """That the trigger does not say which pool it is for."""
    return f"the trigger's metadata has no pool; {_known(known)}"


def named(names: Collection[str]) -> str:
    """Names in a row, as many as a line can have."""
    shown = ", ".join(safe(name[:LONGEST_NAME]) for name in list(names)[:NAMED])
    more = len(names) - NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _known(names: Collection[str]) -> str:
    return f"known: {named(names)}" if names else "there are none"
