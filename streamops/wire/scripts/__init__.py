"""The Lua scripts, one file each, loaded by name."""

from collections.abc import Iterator
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Final, NamedTuple

INCLUDE: Final = "-- @include "


class Script(NamedTuple):
    """A script's source and the digest that EVALSHA knows it by."""

    source: str
    sha: str


@cache
def load_script(name: str) -> Script:
    """The script in ``NAME.lua``, what it includes put in, its comment lines left out."""
    source = "\n".join(_lines(name))
    return Script(source, sha1(source.encode(), usedforsecurity=False).hexdigest())


def _lines(name: str) -> Iterator[str]:
    """The lines that are code; ``-- @include NAME`` stands for those of ``NAME.lua``."""
    for line in files(__name__).joinpath(f"{name}.lua").read_text(encoding="utf-8").splitlines():
        if line.startswith(INCLUDE):
            yield from _lines(line.removeprefix(INCLUDE).strip())
        elif line.strip() and not line.lstrip().startswith("--"):
            yield line
