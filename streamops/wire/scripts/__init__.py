"""The Lua scripts, one file each, loaded by name."""

from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import NamedTuple


class Script(NamedTuple):
    """A script's source and the digest that EVALSHA knows it by."""

    source: str
    sha: str


@cache
def load_script(name: str) -> Script:
    """The script in ``NAME.lua``, its comment lines left out."""
    text = files(__name__).joinpath(f"{name}.lua").read_text(encoding="utf-8")
    source = "\n".join(
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("--")
    )
    return Script(source, sha1(source.encode(), usedforsecurity=False).hexdigest())
