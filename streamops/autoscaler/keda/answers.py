"""What a view comes to for KEDA, by whichever way it asks. Pure."""

import re
from collections.abc import Collection
from typing import Final

from streamops.autoscaler.keda.source import PoolView
from streamops.model.safe_text import safe

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
