"""Links of the documents lead to files and headings that are there."""

import re
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).parents[3]
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
FENCED: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
GENERATED: Final = re.compile(r'<a (?:id|name)="([^"]+)"')


def documents() -> list[Path]:
    folders = ("docs", "dashboards", "grafana", "tests")
    found = [*ROOT.glob("*.md"), *(path for folder in folders for path in (ROOT / folder).rglob("*.md"))]
    assert len(found) > 10
    return found


def anchors(document: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    text = FENCED.sub("", document.read_text())
    made = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text))
    return {*made, *GENERATED.findall(text)}


def test_every_relative_link_leads_to_a_file_and_a_heading_that_are_there() -> None:
    dead = []
    for document in documents():
        for link in LINK.findall(FENCED.sub("", document.read_text())):
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = (document.parent / path).resolve() if path else document
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                dead.append(f"{document.relative_to(ROOT)}: {link}")
    assert dead == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, ahead = set[Path](), [ROOT / "README.md"]
    while ahead:
        document = ahead.pop()
        if document in reached:
            continue
        reached.add(document)
        links = (link.partition("#")[0] for link in LINK.findall(FENCED.sub("", document.read_text())))
        ahead += [
            (document.parent / path).resolve() for path in links if path.endswith(".md") and ":" not in path
        ]
    assert {*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")} - reached == set()


def test_every_page_but_those_of_single_commands_stands_in_the_navigation_of_the_site() -> None:
    sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"][1:]
    named = {page for section in sections for pages in section.values() for page in pages}
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert {str(page) for page in pages if page.parts[0] != "commands"} <= named
