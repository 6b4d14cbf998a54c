"""The commands of the page on troubleshooting print what it shows, on a server in such trouble."""

from pathlib import Path

import pytest

from docs.reference import ROOT_DIRECTORY
from tests.support.house.pages import check, environment
from tests.support.servers import RunningServer

PAGE = (ROOT_DIRECTORY / "docs" / "troubleshooting.md").read_text()


@pytest.fixture
def environ(server: RunningServer, tmp_path: Path) -> dict[str, str]:
    """A server with a lag that is not known, a pending entry, and users who may too little."""
    server.commands(("XADD", "clicks", f"{n}-1", "n", n) for n in range(1, 30_001))
    server.commands(("XADD", "orders", f"{n}-1", "n", n) for n in range(1, 5))
    server.command("XGROUP", "CREATE", "clicks", "late", "15000-1")
    server.command("XDEL", "clicks", "20000-1")
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "b1", "COUNT", 1, "STREAMS", "orders", ">")
    reading = ("+ping", "+info", "+type", "+xinfo", "+xlen", "+xpending")
    server.command("ACL", "SETUSER", "viewer", "on", ">pw", "~*", *reading, "+scan")
    server.command("ACL", "SETUSER", "noscan", "on", ">pw", "~*", *reading, "+time", "+xrange")
    urls = {
        "STREAMOPS_URL": server.unix_url,
        "VIEWER_URL": f"unix://viewer:pw@{server.socket_path}",
        "NO_SCAN_URL": f"unix://noscan:pw@{server.socket_path}",
    }
    return environment(tmp_path, urls)


def test_each_command_of_the_page_prints_what_it_shows(environ: dict[str, str]) -> None:
    check(PAGE, environ)
