"""Hooks of mkdocs: documents from outside ``docs`` are pages too, and links lead to pages of the site.

A link to a file of the repository that is no page, such as a test, is its text alone.
"""

import posixpath
import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]
OUTSIDE: Final = {
    "README.md": "index.md",
    "dashboards/RUNBOOKS.md": "RUNBOOKS.md",
    **{name: name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")},
}
"""Documents outside ``docs`` that are pages: where they are in the repository, and on the site."""

LINK: Final = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the documents from outside."""
    for path, place in OUTSIDE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: MkDocsConfig) -> str:
    """Point links at pages; leave the text of those that lead to none."""
    source = next(
        (path for path, place in OUTSIDE.items() if place == page.file.src_uri), f"docs/{page.file.src_uri}"
    )

    def renewed(link: re.Match[str]) -> str:
        mark, text, target = link.groups()
        path, hash_, anchor = target.partition("#")
        if not path or ":" in path:
            return link[0]
        leads_to = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if not (ROOT / leads_to).exists():
            return link[0]  # mkdocs complains of it
        place = OUTSIDE.get(leads_to, leads_to.removeprefix("docs/"))
        found = files.get_file_from_path(place)
        if found is None or found.inclusion is InclusionLevel.EXCLUDED:
            return text
        return f"{mark}[{text}]({posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or '.')}{hash_}{anchor})"

    return LINK.sub(renewed, markdown)
