"""The console on the invented shop, with a key that pages a value: for tests on a real terminal."""

import sys
from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.tui.app import StreamopsApp
from tests.support.tui.shop import shop_source
from tests.support.tui.source import settings_for

VALUE = b"first line\nesc \x1b]52;c;eA==\x07 end\n" + b"x" * 200_000


class PagingApp(StreamopsApp):
    """``F2`` pages a value, ``F3`` its bytes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "page(False)", "page", show=False),
        Binding("f3", "page(True)", "page raw", show=False),
    ]

    def action_page(self, raw: bool) -> None:  # noqa: FBT001 - an action's parameters have no names
        self.show_in_pager(VALUE, "a value", raw=raw)


if __name__ == "__main__":
    app = PagingApp(settings_for(shop_source()))
    app.run()
    sys.exit(app.return_code or 0)
