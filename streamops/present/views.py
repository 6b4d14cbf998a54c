"""Saved views: a list as somebody wants to see it again, and how it is written into a configuration file. Pure."""

import json
import re
from typing import Any, Final

from msgspec import Struct

from streamops.errors import SettingsError

BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class View(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[views.NAME]``: a place of the console, and how its list is arranged.

    Attributes:
        place: Where it is, as it is typed after the colon: ``status``, ``streams``, ``orders billing``.
        filter: What rows must hold, as it is typed after the slash.
        sort: The column that it is sorted by, by its key or title; none for the list's own order.
        descending: Whether the greatest comes first; none for the column's own way.
        faults: Whether only rows with a fault are shown.
        columns: The columns that are shown, in their order; none for the list's own.
    """

    place: str = "status"
    filter: str = ""
    sort: str | None = None
    descending: bool | None = None
    faults: bool = False
    columns: tuple[str, ...] = ()


def check_view_name(name: str) -> None:
    """Insist on a name that can be typed; raises ``SettingsError``."""
    if BARE_KEY.fullmatch(name) is None:
        raise SettingsError(
            f"a view cannot be called {name[:64]!r}", "Use letters, digits, - and _, at most 64 of them."
        )


def view_toml(name: str, view: View) -> str:
    """A view as a table of a configuration file, only what is not the default.

    Raises:
        SettingsError: Its name cannot be typed, or it holds bytes that are not UTF-8, which no such file can.
    """
    check_view_name(name)
    default = View()
    stated = {
        key: value
        for key in view.__struct_fields__
        if (value := getattr(view, key)) != getattr(default, key) or key == "place"
    }
    text = "".join(f"{key} = {_value(value)}\n" for key, value in stated.items())
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingsError(
            f"view {name}: it holds a name that is not UTF-8", "No configuration file can hold it."
        ) from None
    return f"[views.{name}]\n{text}"


def _value(value: Any) -> str:  # noqa: ANN401 - whatever a view holds
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            # A basic string of TOML is one of JSON, but for DEL, which JSON leaves as it is.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return f"[{', '.join(map(_value, value))}]"
