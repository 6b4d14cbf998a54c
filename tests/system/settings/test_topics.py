"""Topics of the configuration: all problems at once, secrets from files and programs."""

import pytest

from streamops.errors import SettingsError
from streamops.settings.load import Flags
from streamops.settings.topics import load_topics
from tests.support.settings.place import PLANTED, Place
from tests.support.settings.topics import TOPIC


def test_a_projects_file_may_neither_run_programs_nor_read_elsewhere(place: Place) -> None:
    place.write_password(f"{PLANTED}-long-enough")
    for key in (
        'secret_command = "printf x"',
        'secret_file = "~/password"',
        'header_files = { A = "~/password" }',
    ):
        place.write_project(TOPIC + key)
        with pytest.raises(SettingsError, match="a project's file may not") as told:
            load_topics(Flags(), place.environ(), place.cwd)
        assert PLANTED not in told.value.message + told.value.hint
