"""Make the console cheap for tests: draw, and style what is only drawn, when the screen is read; parse each stylesheet once a process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from rich.console import RenderableType
from textual._compositor import Compositor
from textual.css.model import RuleSet
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

_render_update = Compositor.render_update
_parse_rules = Stylesheet._parse_rules
_style_components = Stylesheet._process_component_classes
_component_styles = DOMNode.get_component_styles
FRAME = 0.001
"""A screen is laid out when its next frame is due."""
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


@contextmanager
def undrawn() -> Iterator[None]:
    """Skip updates of a terminal that does not exist: they are half of what a key costs.

    What reads the whole screen (``render_strips``, ``export_screenshot``) still draws all of it.
    """
    with (
        patch("textual.screen.UPDATE_PERIOD", FRAME),
        patch.object(Compositor, "render_update", _render_if_full),
        patch.object(Stylesheet, "_parse_rules", _parse_once),
        patch.object(Stylesheet, "_process_component_classes", _forget_components),
        patch.object(DOMNode, "get_component_styles", _styles_when_asked),
    ):
        yield


def _render_if_full(
    self: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False  # noqa: ANN401, FBT001, FBT002 - Textual's own signature
) -> RenderableType | None:  # fmt: skip
    if full:
        return _render_update(self, full, screen_stack, simplify)
    self._dirty_regions.clear()
    return None


def _parse_once(self: Stylesheet, *args: Any, **kwargs: Any) -> list[RuleSet]:
    key = (args, tuple(kwargs.items()), tuple(self._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse_rules(self, *args, **kwargs)
    return _parsed[key]


def _forget_components(self: Stylesheet, node: DOMNode) -> None:
    del self
    node._component_styles.clear()


def _styles_when_asked(self: DOMNode, *names: str) -> RenderStyles:
    """Of the parts of a widget (a cursor, a placeholder), which are most of what there is to style."""
    if not self._component_styles:
        _style_components(self.app.stylesheet, self)
    return _component_styles(self, *names)
