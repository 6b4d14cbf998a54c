"""Writes the dashboards, the rules, and the manifest that holds the rules.

python -m dashboards           write them
python -m dashboards --check   say what is out of date, and fail

python -m dashboards --runbooks https://HOST/RUNBOOKS.md [--manifest]
                               print the rules, or the manifest, with links to runbooks at that address too
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

from dashboards.manifests import build_manifest, manifest_files
from dashboards.rules import build_rules, rule_files

HERE: Final = Path(__file__).resolve().parent


def main() -> int:
    """Write or check the files, or print the rules; 1 where a file is out of date."""
    parser = ArgumentParser(prog="python -m dashboards")
    parser.add_argument("--check", action="store_true", help="say what is out of date, and fail")
    parser.add_argument("--runbooks", metavar="URL", help="print the rules with links to runbooks there")
    parser.add_argument("--manifest", action="store_true", help="print the operator's manifest instead")
    given = parser.parse_args()
    if given.runbooks is not None or given.manifest:
        try:
            text = (build_manifest if given.manifest else build_rules)(runbooks=given.runbooks or "")
        except ValueError as error:
            parser.error(f"--runbooks: {error}")
        sys.stdout.write(text)
        return 0
    from dashboards.boards.every import board_files  # noqa: PLC0415 - rules alone need no Grafana SDK

    makers = (board_files, rule_files, manifest_files)
    wanted = {(HERE / path).resolve(): text for make in makers for path, text in make().items()}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if given.check:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(HERE.parent)} is out of date: run `python -m dashboards`\n")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
