"""Shared by the tests of hostile."""

from streamops.present.text import is_safe
from streamops.tui.app import StreamopsApp
from tests.support.tui import hostile


def is_shown(text: str) -> bool:
    """Whether a terminal only shows a text."""
    return (text.isascii() and text.isprintable()) or all(map(is_safe, text))


def check_screen(app: StreamopsApp) -> None:
    """Nothing on the screen is obeyed by a terminal or bound to an action."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            assert is_shown(segment.text), segment
            assert segment.control is None
            assert segment.style is None or not segment.style.meta.get("@click")
            assert segment.style is None or segment.style.link is None


EVERYTHING = "".join(hostile.TEXTS)
