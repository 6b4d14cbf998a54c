"""A secret that is planted wherever one can be configured is never printed, logged, shown, audited or written by any face."""

from collections.abc import Sequence

import pytest

from streamops.cli.globals import Globals
from streamops.cli.session import Session
from streamops.main.consoles import server_settings
from streamops.tui.app import StreamopsApp
from tests.support.cli.running import Cli
from tests.support.security.planting import CONTEXTS, SECRET, Planted
from tests.support.tui.driving import press, running, screen_text, until

EVERYWHERE = (
    "status", "config show", "config show -o json", "config validate", "ctx ls", "ctx ls -o json", "ctx show", "doctor",
    "streams ls", "webhooks ls", "webhooks show remind", "pools ls", "pools show shell", "check --lag 1",
    "audit ls",
)  # fmt: skip
ACTING = (
    "publish orders n=9",
    "pending ls orders mail",
    "ack orders mail --ids {entry} --yes",
    "pools scale shell 3 --yes",
    "webhooks create other --url http://127.0.0.1:1/?token={secret} --secret-file planted/password --yes",
    "webhooks show other",
    "webhooks ls -o json",
    "webhooks rm other --confirm other",
    "trim orders --maxlen 1 --yes",
    "undo 1-1 --yes",
    "jobs ls",
    "audit ls -o json",
    "exporter --listen 127.0.0.1:0 --web-config broken.yml",
    "exporter --listen 127.0.0.1:0 --web-config odd.yml",
    "autoscale keda --listen 127.0.0.1:0 --tls-cert planted/key --tls-key planted/key",
    "--url redis://u:{secret}@127.0.0.1:1 status",
    "--url redis://u:{secret}@[ status",
    "--url http://u:{secret}@h status",
    "--url redis://{secret}@h?password={secret} status",
    "-c {secret}x status",
)


@pytest.mark.parametrize("context", CONTEXTS)
def test_commands_that_look_tell_no_secret(
    planted: Planted, cli: Cli, monkeypatch: pytest.MonkeyPatch, context: str
) -> None:
    monkeypatch.chdir(planted.directory)
    words = EVERYWHERE[:: 1 if context == "byurl" else 4]
    assert told_codes(planted, cli, [f"-c {context} {one}" for one in words]) >= {0}


def test_commands_that_act_or_fail_tell_no_secret(
    planted: Planted, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(planted.directory)
    assert told_codes(planted, cli, ACTING) >= {0, 2, 3}
    assert planted.server.command("XLEN", "streamops:audit") > 0


def told_codes(planted: Planted, cli: Cli, lines: Sequence[str]) -> set[int]:
    """How commands end that tell no secret, and leave none behind."""
    seen = set()
    entry = planted.server.command("XRANGE", "orders", "-", "+", "COUNT", 1)[0][0].decode()
    for line in lines:
        # What is in the arguments is not secret from whoever sees them; what is made of them still is.
        result = cli(
            "--log-level", "debug", "--timeout", "5", *line.format(secret=SECRET, entry=entry).split()
        )
        seen.add(result.code)
        hidden = "-c {secret}" not in line
        assert not (hidden and planted.tells(result.out + result.err)), (line, result)
        assert "Traceback" not in result.err, (line, result.err)
    assert not [*planted.stored()]
    assert not [*planted.written()]
    return seen


def test_a_bug_with_its_traceback(planted: Planted, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the traceback of a bug, in whose frames the secret is, prints the lines and not the values."""

    def broken(*_: object, **__: object) -> None:
        raise AssertionError("broken")

    monkeypatch.setattr("streamops.operations.console.Console.open", broken)
    result = cli("--log-level", "debug", "status")
    assert "Traceback" in result.err
    assert not planted.tells(result.out + result.err)


async def test_the_console(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(planted.directory)
    app = StreamopsApp(server_settings(Session(Globals(context="bycommand"))))
    seen = []
    async with running(app):
        await until(app, lambda: "billing" in screen_text(app))
        for keys in (("?",), ("escape",), ("c",), ("escape",), ("s",), ("escape",), ("enter",), ("enter",)):
            await press(app, *keys)
            seen.append(screen_text(app))
        seen.append(app.export_screenshot())
    assert not planted.tells("\n".join(seen))
    assert not [*planted.written()]
