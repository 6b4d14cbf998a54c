"""One secret, planted wherever a secret can be configured, and where to look for it afterwards."""

from collections.abc import Iterator
from pathlib import Path

import bcrypt
import pytest

from tests.support.cli.running import Place
from tests.support.servers import RunningServer, StartServer

SECRET = "hunter2PlantedInTheNorth"  # noqa: S105 - a test's own
"""What nothing that is printed, logged or written may hold."""

USER = "operator"

CONFIG = """
default_context = "byurl"
[contexts.byurl]
url = "redis://{user}:{secret}@127.0.0.1:{port}/0"
environment = "development"
[contexts.byfile]
host = "127.0.0.1"
port = {port}
username = "{user}"
password_file = "planted/password"
environment = "development"
[contexts.bycommand]
host = "127.0.0.1"
port = {port}
username = "{user}"
password_command = "cat {directory}/planted/password"
[contexts.wrong]
url = "redis://{user}:{secret}wrong@127.0.0.1:{port}/0"
[contexts.away]
url = "redis://{user}:{secret}@127.0.0.1:1/0"
[contexts.tls]
url = "rediss://{user}:{secret}@127.0.0.1:{port}/0?cert={directory}/planted/key&key={directory}/planted/key"
[contexts.failing]
host = "127.0.0.1"
password_command = "sh -c 'echo {secret}; echo {secret} >&2; exit 3'"
[[topics]]
name = "remind"
url = "http://127.0.0.1:1/hook?token={secret}"
headers = {{ "X-Api-Key" = "{secret}" }}
header_files = {{ "Authorization" = "planted/password" }}
secret_file = "planted/password"
retry = "1s"
[intake]
listen = "127.0.0.1:0"
token_file = "planted/password"
[notify]
urls_file = "planted/urls"
every = "1s"
fire_after = "1s"
[callbacks]
hosts = ["127.0.0.1"]
[pools.shell]
stream = "orders"
group = "mail"
target = "command"
command = {{ get = "sh -c 'echo $TOKEN; echo $TOKEN >&2; exit 1'", set = "sh -c 'echo $TOKEN >&2; exit 1' {{desired}}", env = {{ TOKEN = "{secret}" }} }}
"""

WEB = """
tls_server_config: {{cert_file: planted/key, key_file: planted/key}}
basic_auth_users: {{prometheus: "{hash}"}}
"""


class Planted:
    """A home in which everything that can hold the secret does.

    Args:
        home: The directory, empty; made the home of this process by whoever calls.
        server: The server that it opens.
    """

    def __init__(self, home: Path, server: RunningServer) -> None:
        self.home = home
        self.server = server
        self.hash = bcrypt.hashpw(SECRET.encode(), bcrypt.gensalt(4)).decode()
        self.directory = home / ".config" / "streamops"
        (self.directory / "planted").mkdir(parents=True)
        text = CONFIG.format(secret=SECRET, user=USER, port=server.port, directory=self.directory)
        self.write("config.toml", text)
        self.write("planted/password", SECRET + "\n")
        self.write("planted/urls", f"json://{USER}:{SECRET}@127.0.0.1:1/{SECRET}?x={SECRET}\n")
        self.write("planted/key", f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n")
        self.write("web.yml", f'basic_auth_users: {{prometheus: "{self.hash}"}}\n')
        self.write("broken.yml", WEB.format(hash=self.hash))
        self.write("odd.yml", f"basic_auth_users: {{prometheus: {SECRET}}}\n")
        server.command("ACL", "SETUSER", USER, "on", f">{SECRET}", "~*", "&*", "+@all")

    def write(self, name: str, text: str) -> Path:
        """Write a file beside the configuration, readable by its owner alone."""
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def tells(self, text: str) -> str:
        """The line of a text that holds what was planted; empty where none does."""
        found = [line for line in text.splitlines() if SECRET in line or self.hash in line]
        return found[0] if found else ""

    def written(self) -> Iterator[str]:
        """Files under the home, but those it was planted in, that hold it."""
        planted = {self.directory / name for name in ("config.toml", "web.yml", "broken.yml", "odd.yml")}
        for path in self.home.rglob("*"):
            if path.is_file() and path not in planted and path.parent.name != "planted":
                data = path.read_bytes()
                if SECRET.encode() in data or self.hash.encode() in data:
                    yield str(path)

    def stored(self) -> Iterator[str]:
        """Keys of the server that hold it, topics left out: their key is where operators put secrets."""
        for key in self.server.command("KEYS", "*"):
            if key != b"streamops:topics" and SECRET.encode() in self.server.command("DUMP", key):
                yield key.decode()


def processes(pid: int) -> Iterator[tuple[int, str]]:
    """A process and all below it, with their titles, and with the environments of all but shells."""
    try:
        parts = [Path(f"/proc/{pid}/{part}").read_bytes() for part in ("cmdline", "environ")]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        # It has ended meanwhile.
        return
    if parts[0].startswith((b"sh\0", b"/bin/sh\0")):
        # A command that a person chose is given what it is to have.
        parts.pop()
    for part in parts:
        yield pid, part.decode(errors="replace").replace("\0", "\n")
    for child in children:
        yield from processes(int(child))


CONTEXTS = ("byurl", "byfile", "bycommand", "wrong", "away", "tls", "failing")


@pytest.fixture
def planted(start_server: StartServer, place: Place) -> Planted:
    """A server with two groups, and secrets wherever one can be configured."""
    server = start_server()
    for number in range(3):
        server.command("XADD", "orders", "*", "n", number)
    for group in ("billing", "mail"):
        server.command("XGROUP", "CREATE", "orders", group, "0")
    server.command("XREADGROUP", "GROUP", "mail", "worker-1", "COUNT", 1, "STREAMS", "orders", ">")
    return Planted(place.home, server)
