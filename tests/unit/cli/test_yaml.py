"""``-o yaml``: what ``-o json`` says, as YAML that no reader takes for anything else, and that is safe to print."""

import json
from typing import Any

import pytest
import yaml

from streamops.cli.yaml_text import yaml_text
from tests.support.cli.invented_console import InventedConsole
from tests.support.cli.running import Cli
from tests.support.tables import table

LINES = [
    ("status",),
    ("streams", "show", "orders"),
    ("groups", "ls"),
    ("check",),
    ("doctor", "--acl", "operator"),
]


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_yaml_says_what_json_says(words: tuple[str, ...], cli: Cli, invented: InventedConsole) -> None:
    assert invented.observation.streams
    as_json = cli(*words, "-o", "json")
    as_yaml = cli(*words, "-o", "yaml")
    assert (as_yaml.code, as_yaml.err) == (as_json.code, as_json.err)
    assert yaml.safe_load(as_yaml.out) == json.loads(as_json.out)


def test_rows_that_come_one_by_one_are_documents(cli: Cli, invented: InventedConsole) -> None:
    assert invented.observation.streams
    words = ("streams", "tail", "orders", "--from", "0", "--limit", "2")
    lines = cli(*words, "-o", "jsonl").out.splitlines()
    assert list(yaml.safe_load_all(cli(*words, "-o", "yaml").out)) == [json.loads(line) for line in lines]


@table("value", ["\x1b[31mred", "gp\u202ej.exe", "\x85\x7f", "two\nlines", "é😀\u200b", "a: b #c"])
def test_yaml_of_hostile_text_is_safe_and_exact(value: str) -> None:
    text = yaml_text({"value": value})
    assert all(character.isprintable() or character == "\n" for character in text)
    assert yaml.safe_load(text) == {"value": value}


def test_readable_text_is_left_readable() -> None:
    assert yaml_text({"name": "Zoë"}) == "name: Zoë\n"


@pytest.mark.parametrize("text", ["1e3", "0o17", "1_000", ".5", "-1", "yes", "null", "~", ""])
def test_text_is_not_taken_for_a_number_or_a_word_of_yaml(text: str) -> None:
    written = yaml_text({"value": text})
    assert written.split(": ")[1][0] in "'\""
    read: Any = yaml.safe_load(written)
    assert read == {"value": text}


def test_fields_do_not_go_with_yaml(cli: Cli) -> None:
    result = cli("status", "-o", "yaml", "--fields", "lag")
    assert result.code == 2
    assert "-o yaml" in result.err
