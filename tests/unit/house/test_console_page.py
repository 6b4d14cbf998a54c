"""The page on the console names each key as the console has it."""

import re
from typing import Final

from docs.reference import ROOT_DIRECTORY
from streamops.present.keys import KEYS, shown_keys

PAGE: Final = (ROOT_DIRECTORY / "docs" / "console.md").read_text()
ROW: Final = re.compile(r"^\| `([\w.]+)` \| `([^`]+)` \|", re.MULTILINE)


def test_every_key_is_listed_by_its_name() -> None:
    assert dict(ROW.findall(PAGE)) == {name: shown_keys(name, {}) for name in KEYS}
