"""The actions of the console as Textual binds them, and as hints tell them with the keys of this keymap."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, TypeAlias

from textual.binding import Binding, BindingType

from streamops.resources.actions import ACTION_OF, ACTIONS, KEYS, SIGNS, key_names

Hint: TypeAlias = str | tuple[str, str]
"""An action's name, or names with spaces between and the word for them here; what is no name is told as it is."""
Pairs: TypeAlias = tuple[tuple[str, str], ...]
SHORT: Final = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "escape": "Esc",
    "enter": "Enter",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "space": "Space",
    "tab": "Tab",
    "shift+tab": "⇧Tab",
    "ctrl+g": "^g",
    "ctrl+p": "^p",
    "ctrl+q": "^q",
    "ctrl+u": "^u",
    "ctrl+y": "^y",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
    **SIGNS,
}
"""Keys as a hint tells them."""


def bindings(*names: str, **runs: str) -> list[BindingType]:
    """Bind actions by their names; a keyword says what one runs here, instead of what it runs elsewhere."""
    chosen = {**{name: ACTION_OF[name].runs or name for name in names}, **runs}
    return [
        Binding(KEYS[name].keys, action, KEYS[name].word, show=False, id=name)
        for name, action in chosen.items()
    ]


METHODS: Final = {name: action.method for name, action in KEYS.items() if not action.runs.startswith("app.")}
"""The methods of actions, but for those that run on the console from a screen."""


class WithKeys:
    """Binds the keys of those actions that a class has a method for; ``BINDINGS`` holds what is bound otherwise.

    An action that runs on the console, whatever screen is on top, is bound by the screens where it means something.
    """

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        own = vars(cls)
        named = [name for name, method in METHODS.items() if method in own]
        cls.BINDINGS = [*bindings(*named), *own.get("BINDINGS", ())]
        super().__init_subclass__(**options)


def key_of(shown: str) -> str:
    """The key that a hint tells, the first of several, as Textual names it."""
    first = shown.split(" ", maxsplit=1)[0]
    return next((key for key, sign in SHORT.items() if sign == first), first)


def hint_pairs(hints: Iterable[Hint], keymap: Mapping[str, str]) -> Pairs:
    """Keys of this keymap, and what they do."""
    return tuple(
        (" ".join(first_key(name, keymap) for name in hint_names(hint)), _word(hint)) for hint in hints
    )


def hint_names(hint: Hint) -> tuple[str, ...]:
    """The actions that a hint is about; those of one word go together, such as sorting and inverting."""
    if not isinstance(hint, str):
        return tuple(hint[0].split(" "))
    action = ACTION_OF[hint]
    return tuple(
        one.name for one in ACTIONS if (one.word, one.where) == (action.word, action.where) and one.keys
    )


def _word(hint: Hint) -> str:
    return ACTION_OF[hint].word if isinstance(hint, str) else hint[1]


def first_key(name: str, keymap: Mapping[str, str]) -> str:
    """The key of an action by this keymap, the first of several; what is no action's name as it is."""
    if name not in KEYS:
        return name
    key, *_ = key_names(keymap.get(name, KEYS[name].keys))
    return SHORT.get(key, key)
