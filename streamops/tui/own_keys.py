"""Keys of one's own, as hints and help tell them."""

from collections.abc import Mapping
from typing import Final

from textual.screen import Screen

from streamops.present.keys import KEYS, key_names, shown_keys

Hints = tuple[tuple[str, str], ...]
Sections = tuple[tuple[str, Hints], ...]
SHORT: Final = {"esc": "escape"}


def own_hints(hints: Hints, screen: Screen[None], keymap: Mapping[str, str]) -> Hints:
    """Hints of a screen, with the keys that do the same by this keymap; what is bound on the screen decides what is meant.

    Args:
        hints: Keys, several with spaces between, and what they do.
        screen: The screen.
        keymap: Keys of one's own, by the names of bindings.
    """
    if not keymap:
        return hints
    bound = (active.binding.id for active in screen.active_bindings.values())
    names = {name for name in bound if name is not None and name in keymap}
    changed = {key: shown_keys(name, keymap) for name in names for key in key_names(KEYS[name].keys)}
    return tuple(
        (" ".join(_own(token, changed) for token in keys.split(" ")), words) for keys, words in hints
    )


def own_sections(keymap: Mapping[str, str]) -> Sections:
    """What help tells before all other keys."""
    return (("Of your own", _own_keys(keymap)),) if keymap else ()


def _own_keys(keymap: Mapping[str, str]) -> Hints:
    return tuple((shown_keys(name, keymap), f"{name}, in place of {shown_keys(name, {})}") for name in keymap)


def _own(token: str, changed: Mapping[str, str]) -> str:
    names = key_names(SHORT.get(token, token)) or (token,)
    return changed.get(names[0], token)
