"""Telling that files have changed, without reading them."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Mark(NamedTuple):
    """What tells that a file is another one than before."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def marks_of(paths: Iterable[Path]) -> dict[Path, Mark | None]:
    """The marks of some files as they are; none for those that cannot be looked at."""
    return {path: _mark(path) for path in paths}


def _mark(path: Path) -> Mark | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return Mark(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
