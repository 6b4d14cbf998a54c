"""What a configuration file may say of the exporter."""

import pytest

from streamops.errors import SettingsError
from streamops.settings.describe import describe_settings
from streamops.settings.tables import ExporterTable
from tests.support.settings.place import Place


def test_without_a_table_there_are_defaults(place: Place) -> None:
    table = place.load().tables.exporter
    assert table == ExporterTable()
    assert (table.listen, table.max_streams, table.granularity) == ("127.0.0.1:9641", 2000, "consumer")


def test_files_are_merged_key_by_key_and_names_are_relative_to_theirs(place: Place) -> None:
    place.write_user('[exporter]\nweb_config = "web.yml"\nexclude = ["a"]\nmax_consumers = 10\n')
    place.write_trusted('[exporter]\nexclude = ["b.*"]\nlisten = "[::1]:1"\ngranularity = "group"\n')
    table = place.load().tables.exporter
    assert table.web_config == str(place.user_file.parent / "web.yml")
    assert (table.exclude, table.max_consumers, table.listen) == (("b.*",), 10, "[::1]:1")
    rows = {row.key: (row.value, row.origin) for row in describe_settings(place.load())}
    assert rows["exporter.exclude"] == ("b.*", str(place.project_file))
    assert rows["exporter.web_config"] == (table.web_config, str(place.user_file))
    assert rows["exporter.max_streams"] == ("2000", "default")
    place.write_trusted('[exporter]\nweb_config = "~/web.yml"\n')
    assert place.load().tables.exporter.web_config == str(place.home / "web.yml")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('include = ["("]', "include: '(' is no regular expression"),
        ('exclude = "a"', "exclude"),
        ("max_streams = 0", "max_streams"),
        ("max_consumers = 2000000", "max_consumers"),
        ('granularity = "entry"', "granularity"),
        ("listen = 9641", "listen"),
        ('web-config = "a"', "unknown key"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_place(place: Place, text: str, problem: str) -> None:
    place.write_user(f"[exporter]\n{text}\n")
    with pytest.raises(SettingsError) as failure:
        place.load()
    assert problem in failure.value.message
    assert str(place.user_file) in failure.value.message
