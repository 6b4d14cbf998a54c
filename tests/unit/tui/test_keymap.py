"""Keys of one's own: every binding has a name, and the names that a configuration may use are those."""

from typing import Any

from msgspec.structs import replace

from streamops.model.removed import removed_hint
from streamops.resources.actions import CHARACTERS, KEYS, key_names, keymap_problems, shown_keys
from streamops.tui.app import StreamopsApp
from streamops.tui.widgets.text_view import TextView
from tests.support.tui.bindings import bindings
from tests.support.tui.driving import bar, press, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import settings_for


def test_every_binding_has_a_name_that_a_configuration_may_use() -> None:
    unnamed = [
        (where, binding.key, binding.action) for where, binding in bindings() if binding.id not in KEYS
    ]
    assert unnamed == []


def test_the_keys_of_names_are_those_that_are_bound() -> None:
    bound: dict[str, set[str]] = {}
    for _, binding in bindings():
        if binding.id is not None:
            bound.setdefault(binding.id, set()).update(binding.key.split(","))
    assert bound == {name: set(key.keys.split(",")) for name, key in KEYS.items()}


def test_the_consoles_own_keys_have_no_clash() -> None:
    assert list(keymap_problems({name: key.keys for name, key in KEYS.items()})) == []


def test_characters_are_named_as_textual_names_them() -> None:
    from textual.keys import _character_to_key  # noqa: PLC0415 - private: held here, where it would be seen to change

    for character, name in CHARACTERS.items():
        assert _character_to_key(character) == name


def test_a_keymap_is_judged() -> None:
    for keymap, problems in [
        ({"filter": "f3", "quit": "Q"}, []),
        ({"sort": "i", "invert": "o"}, []),
        ({"mark": "m"}, []),
        ({"filtr": "x"}, ["nothing is named 'filtr'; did you mean 'filter'?"]),
        ({"zzz": "x"}, ["nothing is named 'zzz'"]),
        (
            {"replay.pause": "x"},
            [f"nothing is named 'replay.pause'. {removed_hint('console.keymap.replay.pause')}"],
        ),
        ({"silence": "x"}, [f"nothing is named 'silence'. {removed_hint('console.keymap.silence')}"]),
        ({"sort": ""}, ["sort: no key"]),
        ({"sort": "i"}, ["i would mean both 'sort' and 'invert'"]),
        ({"sort": "f8", "invert": "f8"}, ["f8 would mean both 'sort' and 'invert'"]),
        ({"help": "ctrl+q"}, ["help: ctrl+q cannot be given another meaning"]),
        ({"quit": "?"}, ["question_mark would mean both 'quit' and 'help'"]),
    ]:
        assert list(keymap_problems(keymap)) == problems


def test_keys_are_written_by_sign_or_by_name() -> None:
    assert key_names("?, f1,question_mark , /") == ("question_mark", "f1", "question_mark", "slash")
    assert shown_keys("help", {}) == "?"
    assert shown_keys("up", {}) == "up k"
    assert shown_keys("help", {"help": "f1,?"}) == "f1 ?"


async def test_keys_of_ones_own_replace_those_of_the_console() -> None:
    settings: Any = replace(
        settings_for(shop_source()), keymap={"filter": "f3,\\", "help": "f1", "down": "e"}
    )
    app = StreamopsApp(settings)
    async with running(app):
        await press(app, "e", "j")
        await until(app, lambda: "2/9" in screen_text(app))
        await press(app, "slash")
        assert "!word" not in screen_text(app)
        await press(app, "backslash")
        await shown(app, "!word")
        await press(app, "escape")
        assert "F3 filter" in bar(app, "keys")
        assert "F1 help" in bar(app, "keys")
        await press(app, "f1", "f1")
        await shown(app, "Enter keys")
        lines = [line for line in app.frame.query_one("#main", TextView).lines if line]
        told = ["".join(cell.text for cell in line) for line in lines]
        assert [line.split() for line in told if "in place of" in line] == [
            ["f3", "\\", "filter,", "in", "place", "of", "/"],
            ["f1", "help,", "in", "place", "of", "?"],
            ["e", "down,", "in", "place", "of", "down", "j"],
        ]
