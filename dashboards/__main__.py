"""Writes the dashboards, the rules, and the manifest that holds the rules.

python -m dashboards           write them
python -m dashboards --check   say what is out of date, and fail
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from dashboards.boards.every import board_files
from dashboards.manifests import manifest_files
from dashboards.rules.files import rule_files

HERE: Final = Path(__file__).resolve().parent

MAKERS: Final[tuple[Callable[[], dict[str, str]], ...]] = (board_files, rule_files, manifest_files)
"""Each makes files of one kind: what they hold, by their path seen from this directory."""


def main() -> int:
    """Write or check the files; 1 where one is out of date."""
    wanted = {(HERE / path).resolve(): text for make in MAKERS for path, text in make().items()}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(HERE.parent)} is out of date: run `python -m dashboards`\n")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
