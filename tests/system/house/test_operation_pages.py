"""The commands of the pages on operations print what they show."""

from pathlib import Path

import pytest

from docs.reference import ROOT_DIRECTORY
from tests.support.house.pages import check, environment, steps
from tests.support.servers import RunningServer

PAGES = sorted((ROOT_DIRECTORY / "docs" / "operations").glob("*.md"))


def add_an_hour_of_trouble(server: RunningServer) -> None:
    """A group whose consumer died an hour ago with three of eight entries, two of them often tried; another that is well."""
    server.commands(("XADD", "orders", f"{n}-1", "order", n) for n in range(1, 9))
    for group, consumer, count in (("billing", "b1", 3), ("billing", "b2", 1), ("audit", "a1", 6)):
        if consumer != "b2":
            server.command("XGROUP", "CREATE", "orders", group, "0")
        server.command("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", "orders", ">")
    server.command("XACK", "orders", "audit", *(f"{n}-1" for n in range(1, 7)))
    claim = ("XCLAIM", "orders", "billing", "b1", 0)
    for entry_id, deliveries in (("1-1", 12), ("2-1", 10), ("3-1", 1)):
        server.command(*claim, entry_id, "IDLE", 3_600_000, "RETRYCOUNT", deliveries, "JUSTID")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_command_of_a_page_prints_what_it_shows(
    page: Path, server: RunningServer, tmp_path: Path
) -> None:
    text = page.read_text()
    assert len(steps(text)) >= 3
    add_an_hour_of_trouble(server)
    check(text, environment(tmp_path, {"STREAMOPS_URL": server.unix_url}))
