"""Textual's driver for browsers, as the process of a tab runs it: it ends when whoever started it is gone."""

import os
from functools import partial
from typing import Any

from textual import messages
from textual.drivers.web_driver import WebDriver

PATIENCE = 5.0
"""Seconds that the console has to end by itself."""


class BrowserDriver(WebDriver):
    """Reads packets from standard input, writes packets to standard output.

    Textual's own goes on forever once nobody sends anything any more, and fails at every frame once nobody reads.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._write = partial(self._write_all)

    def run_input_thread(self) -> None:
        """Read until the other side is gone; then end the console."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(messages.ExitApp())
            if not self.exit_event.wait(PATIENCE):
                os._exit(1)

    def _write_all(self, data: bytes) -> int:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self.fileno, left) :]
        except OSError:
            # Nobody reads: the end of the input says so too, and ends the console.
            return 0
        return len(data)
