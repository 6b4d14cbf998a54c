"""Make the console cheap for tests: draw only when the screen is read, parse each stylesheet once a process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from rich.console import RenderableType
from textual._compositor import Compositor
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_render_update = Compositor.render_update
_parse_rules = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


@contextmanager
def undrawn() -> Iterator[None]:
    """Skip updates of a terminal that does not exist: they are half of what a key costs.

    What reads the whole screen (``render_strips``, ``export_screenshot``) still draws all of it.
    """
    with (
        patch.object(Compositor, "render_update", _render_if_full),
        patch.object(Stylesheet, "_parse_rules", _parse_once),
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
