"""Users whom the doctor examines, and its findings by topic."""

from msgspec.structs import replace

from streamops.monitor.doctor import Examination
from streamops.wire.options import ConnectionOptions, Secret
from tests.support.servers import RunningServer

PASSWORD = Secret("correct-horse")
PERMISSIONS = [
    "may find streams",
    "may see groups",
    "may see pending entries",
    "may ask the time",
    "may see streams",
    "may run scripts",
    "may see consumers",
    "may read entries",
    "may ask INFO",
]


def make_user(server: RunningServer, name: str, *rules: str) -> ConnectionOptions:
    server.command("ACL", "SETUSER", name, "reset", "on", f">{PASSWORD.reveal()}", *rules)
    return replace(server.options, username=name, password=PASSWORD)


def by_topic(found: tuple[Examination, ...]) -> dict[str, Examination]:
    return {each.topic: each for each in found}
