from pathlib import Path

import pytest

from tests.support.settings.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
