"""The keys that the console binds."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from textual.binding import Binding

import streamops.tui

TYPED = {
    "streamops.tui.widgets.prompt", "streamops.tui.screens.form", "streamops.tui.screens.edit_form",
}  # fmt: skip
"""Where keys are those of fields: what is typed there is not to be moved."""
FOCUS = {"app.focus_previous", "app.focus_next"}


def bindings() -> Iterator[tuple[str, Binding]]:
    """Every binding of the console, and where it is."""
    for module in walk_packages(streamops.tui.__path__, "streamops.tui."):
        if module.name.startswith("streamops.tui.web") or module.name in TYPED:
            continue
        for value in vars(import_module(module.name)).values():
            if getattr(value, "__module__", None) == module.name and isinstance(value, type):
                for binding in vars(value).get("BINDINGS", ()):
                    assert isinstance(binding, Binding)
                    if binding.action not in FOCUS:
                        yield f"{module.name}.{value.__name__}", binding
