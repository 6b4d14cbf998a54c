"""Ctrl-C, and a lost terminal: the first stops an operation after the batch under way, the second at once."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


def stopped_by_ctrl_c() -> AbstractContextManager[asyncio.Event]:
    """An event that Ctrl-C, a request to terminate and a hang-up set; asked again, they cancel the task."""
    return stopped_by_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopped_by_signals(*signals: signal.Signals) -> Iterator[asyncio.Event]:
    """An event that any of these signals sets; the second of them cancels the task."""
    stop = asyncio.Event()
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()

    def asked() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    for one in signals:
        loop.add_signal_handler(one, asked)
    try:
        yield stop
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
