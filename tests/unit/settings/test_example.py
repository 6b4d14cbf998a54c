"""The example file is made of the keys: nothing in it is written twice, and all of it loads."""

import re
import tomllib

from msgspec import Struct, convert

from streamops.model.config_keys import config_keys
from streamops.settings.config import validate_file
from streamops.settings.decoding import decode_config
from streamops.settings.describe import render_example
from streamops.settings.tables import ConfigTable
from tests.support.settings.place import Place


def table_types(kind: type[Struct]) -> list[type[Struct]]:
    inner = [key.table for key in config_keys(kind).values() if key.table is not None]
    return [kind, *(table for one in inner for table in table_types(one))]


def test_the_example_has_no_problem_and_needs_no_file(place: Place) -> None:
    path = place.write_user(render_example())
    assert validate_file(path, place.environ()) == ()
    assert place.load().context is None


def test_what_is_commented_out_is_well_in_place_of_what_it_excludes() -> None:
    text = re.sub(r"(?m)^# (?=\w+ = |\[)", "", render_example())
    for instead in (
        "password_file",
        "sentinel_password_file",
        "secret_file",
        "token_file",
        "urls_file",
        "url",
    ):
        text = re.sub(rf"(?m)^{instead} = (?!.*remind).*\n", "", text)
    text = re.sub(r"(?m)^(socket|sentinel_username|secret_file|context) = .*\n|^target = .*\n", "", text)
    text = re.sub(r"(?s)\[pools.billing.kubernetes\].*?\n\n|\[pools.billing.command\].*?\n\n", "", text)
    _, problems = decode_config(tomllib.loads(text), "example")
    assert problems == ()


def test_every_key_says_what_it_is_and_has_a_value_to_show() -> None:
    for table in table_types(ConfigTable):
        for key in config_keys(table).values():
            assert key.text, f"{table.__name__}.{key.name} says nothing"
            if key.table is None:
                shown = key.default if key.example is None else key.example
                assert shown is not None, f"{table.__name__}.{key.name} has nothing to show"
                convert(shown, key.value_type, dec_hook=lambda kind, value: kind(value))
