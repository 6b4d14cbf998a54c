"""Saved views: the state of a list, and how it is written into a configuration file. Pure."""

import re
from functools import partial
from typing import Annotated, Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.config_keys import setting, toml

BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_setting: Final = partial(setting, project=True)


class SavedView(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[views.NAME]``: a place of the console, and how its list is arranged."""

    place: Annotated[
        str, _setting('what is typed after the colon: status, streams, "orders billing"', "status")
    ] = "status"
    filter: Annotated[str, _setting("what is typed after the slash", "pending>0 idle>5m")] = ""
    sort: Annotated[
        str | None, _setting("a column, by its key or title; default: the list's default order", "idle")
    ] = None
    descending: Annotated[
        bool | None, _setting("the greatest first; default: the column's default direction", example=True)
    ] = None
    faults: Annotated[bool, _setting("only rows with a fault")] = False
    columns: Annotated[
        tuple[str, ...],
        _setting(
            "in this order; default: the list's default columns",
            ("stream", "group", "health", "pending", "idle", "tries"),
        ),
    ] = ()


def check_view_name(name: str) -> None:
    """Insist on a name that can be typed; raises ``SettingsError``."""
    if BARE_KEY.fullmatch(name) is None:
        raise SettingsError(
            f"a view cannot be called {name[:64]!r}", "Use letters, digits, - and _, at most 64 of them."
        )


def view_toml(name: str, view: SavedView) -> str:
    """A view as a table of a configuration file, only what is not the default.

    Raises:
        SettingsError: Its name cannot be typed, or it holds bytes that are not UTF-8, which no such file can.
    """
    check_view_name(name)
    default = SavedView()
    stated = {
        key: value
        for key in view.__struct_fields__
        if (value := getattr(view, key)) != getattr(default, key) or key == "place"
    }
    text = "".join(f"{key} = {toml(value)}\n" for key, value in stated.items())
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingsError(
            f"view {name}: it holds a name that is not UTF-8", "No configuration file can hold it."
        ) from None
    return f"[views.{name}]\n{text}"
