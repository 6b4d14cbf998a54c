import re
import tomllib

import msgspec

from streamops.model.retention import RetentionPolicy
from streamops.settings.decoding import decode_config
from streamops.settings.example import read_example
from streamops.settings.exporter_table import ExporterTable
from streamops.settings.load import Settings
from streamops.settings.notify_table import NotifyTable
from streamops.settings.pool_tables import (
    BudgetTable,
    CommandTable,
    KubernetesTable,
    PoolTable,
)
from streamops.settings.schema import ConfigTable, ConsoleOptions, ContextTable
from streamops.settings.topic_tables import CallbacksTable, IntakeTable, TopicTable
from streamops.settings.validate import validate_file
from tests.support.settings.place import Place
from tests.support.tables import table


def names(kind: type[msgspec.Struct]) -> set[str]:
    return set(kind.__struct_fields__)


def uncommented() -> dict[str, dict[str, object]]:
    """The example with its commented keys in place of what they replace."""
    alternatives = re.sub(r"(?m)^# (\w+ = )", r"\1", read_example())
    replaced = re.sub(r"(?m)^(?:(?:sentinel_)?password|secret|token|urls)_file = .*\n", "", alternatives)
    stated, problems = decode_config(tomllib.loads(replaced), "example")
    assert problems == ()
    return stated


def test_the_example_has_no_problem(place: Place) -> None:
    path = place.write_user(read_example())
    assert validate_file(path, place.environ()) == ()
    assert place.load().context == "local"


@table(
    "kind",
    [
        ConfigTable,
        ContextTable,
        ConsoleOptions,
        RetentionPolicy,
        TopicTable,
        CallbacksTable,
        IntakeTable,
        NotifyTable,
        ExporterTable,
        PoolTable,
        KubernetesTable,
        CommandTable,
        BudgetTable,
        type(Settings().thresholds),
    ],
)
def test_the_example_mentions_every_key(kind: type[msgspec.Struct]) -> None:
    written = set(re.findall(r"(?m)^(?:# )?(\w+) = ", read_example()))
    tables = {word for name in re.findall(r"(?m)^\[+([\w.]+)", read_example()) for word in name.split(".")}
    assert names(kind) <= written | tables


def test_the_example_shows_the_defaults_of_health_and_console() -> None:
    stated = uncommented()
    assert msgspec.convert(stated["health"], type(Settings().thresholds)) == Settings().thresholds
    assert names(type(Settings().thresholds)) == set(stated["health"])
    assert stated["console"] == msgspec.structs.asdict(
        ConsoleOptions(theme="light", keymap={"filter": "f3, /", "help": "f1, ?"})
    )


def test_the_example_shows_the_defaults_of_notices() -> None:
    stated = {key: value for key, value in uncommented()["notify"].items() if not key.startswith("urls")}
    assert msgspec.convert(stated, NotifyTable) == NotifyTable()
    assert set(stated) == {key for key in names(NotifyTable) if not key.startswith("urls")}
