"""Simulations on all processors: a process each takes one load after the other."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from random import Random
from typing import Final

from streamops.cli.acting.progress import ProgressTeller
from streamops.cli.session import Session
from streamops.errors import StreamopsError
from streamops.model.acting import Progress
from streamops.scaling.simulator.contest import Heat, Outcome, play

SAFE_PATH: Final = "PYTHONSAFEPATH"
"""What has Python start as ``-P`` does; multiprocessing takes no options for its processes."""


def play_all(session: Session, heats: Sequence[Heat], processes: int | None) -> list[Outcome]:
    """What everybody made of every load, in the order of the loads, telling how far it is.

    Args:
        session: Whose narrator tells.
        heats: The loads.
        processes: How many at once; as many as there are processors where none.

    Raises:
        StreamopsError: A process was killed.
    """
    teller, began = ProgressTeller(session), time.monotonic()
    found: dict[int, list[Outcome]] = {}
    try:
        for place, outcomes in _played(heats, min(len(heats), processes or os.cpu_count() or 1)):
            found[place] = outcomes
            teller(Progress(len(found), len(heats), timedelta(seconds=time.monotonic() - began)))
    except BrokenProcessPool:
        raise StreamopsError(
            "a process of the simulation was killed", "Was there too little memory? Try --processes 1."
        ) from None
    finally:
        teller.end()
    return [outcome for place in sorted(found) for outcome in found[place]]


def _played(heats: Sequence[Heat], processes: int) -> Iterator[tuple[int, list[Outcome]]]:
    if processes == 1:
        for place, heat in enumerate(heats):
            yield place, play(heat, Random)
        return
    with _pool(processes) as pool:
        futures: dict[Future[list[Outcome]], int] = {
            pool.submit(partial(play, heat, Random)): place for place, heat in enumerate(heats)
        }
        for future in as_completed(futures):
            yield futures[future], future.result()


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that an interrupt ends after the load at hand, without a word of their own."""
    # Forked ones would inherit whatever threads and locks this process has.
    context = multiprocessing.get_context("spawn")
    with _safe_path():
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_ignore_interrupts)
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Processes started meanwhile import nothing from the current directory, in which they would look first."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[SAFE_PATH]
        if before is not None:
            os.environ[SAFE_PATH] = before


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
