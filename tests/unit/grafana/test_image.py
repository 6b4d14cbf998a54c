import fnmatch
import re

from streamops import __version__
from tests.support.grafana.commands import parse_streamops
from tests.support.grafana.image import arguments, copied_sources
from tests.support.grafana.stack import ROOT
from tests.support.tables import table

IGNORED = [
    line
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


def is_sent(path: str) -> bool:
    """Whether the builder gets to see a path, by .dockerignore: the last line that matches counts."""
    sent = True
    for line in IGNORED:
        if fnmatch.fnmatch(path, line.removeprefix("!")):
            sent = line.startswith("!")
    return sent


def test_base_image_is_pinned_by_digest() -> None:
    assert {words.split()[0] for words in arguments("FROM")} == {"${BASE}"}
    (base,) = arguments("ARG")
    assert re.fullmatch(r"BASE=[\w./-]+:\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}", base)


@table("source", copied_sources())
def test_what_is_copied_is_there_and_sent_to_the_builder(source: str) -> None:
    assert (ROOT / source).exists()
    assert is_sent(source)


@table("path", [".git", ".venv", "tests", "grafana"])
def test_the_rest_is_not_sent(path: str) -> None:
    assert not is_sent(path)


def test_it_runs_as_nobody_in_particular() -> None:
    (user,) = arguments("USER")
    assert user == "10001:10001"


def test_its_command_is_understood() -> None:
    (entry,), (words,) = arguments("ENTRYPOINT"), arguments("CMD")
    assert entry == '["streamops"]'
    assert parse_streamops(re.findall(r'"([^"]*)"', words)) == "streamops exporter"


@table("path", ["Dockerfile", "docs/install.md"])
def test_tags_of_the_image_are_the_version_of_the_package(path: str) -> None:
    assert set(re.findall(r"\bstreamops:(\d[\w.]*)", (ROOT / path).read_text())) == {__version__}
