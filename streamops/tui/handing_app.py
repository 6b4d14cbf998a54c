"""The part of the console that hands something out: to a clipboard, and to a pager."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from textual.app import SuspendNotSupported

from streamops.errors import StreamopsError
from streamops.tui.acting_app import ActingApp
from streamops.tui.asking import Page
from streamops.tui.terminal import is_in_browser


class HandingApp(ActingApp):
    """An app that copies, and steps aside for a pager."""

    _paging = False

    def copy(self, text: str, what: str) -> None:
        """Copy a text, and say which way it went. Nobody waits for a tool.

        Args:
            text: The text, as it is.
            what: What it is, in words.
        """
        self.run_worker(self._copy_and_say(text, what), exit_on_error=False)

    def on_page(self, message: Page) -> None:
        """Show a value in full; the console is back when the pager is left."""
        if not self._paging:
            self.run_worker(self._page_and_say(message), exit_on_error=False)

    async def _copy_and_say(self, text: str, what: str) -> None:
        from streamops.tui.clipboard import Clipboard  # noqa: PLC0415 - the first screen needs none of it

        clipboard = Clipboard(
            self.settings.copy, os.environ, self.copy_to_clipboard, in_browser=is_in_browser(os.environ)
        )
        try:
            way = await clipboard.copy(text)
        except StreamopsError as error:
            self.say(f"{what}: {error.message}", warning=True)
        else:
            self.say(f"{way}: {what}")

    async def _page_and_say(self, message: Page) -> None:
        from streamops.tui.pager import page  # noqa: PLC0415 - few page

        self._paging = True
        try:
            # Polls and jobs go on meanwhile, and nothing of it is drawn over the pager.
            with self.batch_update(), self.suspend(), _deaf_to_ctrl_c():
                await asyncio.to_thread(page, message.value, os.environ, raw=message.raw)
        except SuspendNotSupported:
            self.say(f"{message.what}: a browser has no pager; copy it instead", warning=True)
        except StreamopsError as error:
            self.say(f"{error.message}. {error.hint}", warning=True)
        finally:
            self._paging = False


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Leave Ctrl-C to the pager: the terminal tells everybody who is on it."""
    # Not ignored, which the pager would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
