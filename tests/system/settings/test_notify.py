"""Who is told: the table, its addresses, and that these are never shown."""

import pytest

from streamops.errors import SettingsError
from tests.support.settings.notify import LINES, load
from tests.support.settings.place import Place


def test_a_projects_file_may_neither_run_programs_nor_read_secrets_elsewhere(place: Place) -> None:
    place.write_password(LINES, "urls")
    place.write_project(f'[notify]\nurls_file = "{place.home / "urls"}"\n')
    with pytest.raises(SettingsError, match="outside its directory"):
        load(place)
    place.write_project('[notify]\nurls_command = "env"\n')
    with pytest.raises(SettingsError, match="may not run programs"):
        load(place)
