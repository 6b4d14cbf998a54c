"""Who acts, where, and on which stream."""

from enum import StrEnum

from msgspec import Struct

from streamops.model.ids import EntryId


class Environment(StrEnum):
    """How much care a context deserves; what is not stated is production."""

    PRODUCTION = "production"
    STAGING = "staging"
    DEVELOPMENT = "development"


class Actor(Struct, frozen=True):
    """Who acts.

    Attributes:
        user: The operating system's user.
        host: The machine's name.
        pid: The process.
        context: The context in use; its server's address where there is none.
        environment: How much care the context deserves.
        selector: The options that choose this server on a command line; none at all where it is the default.
    """

    user: str = ""
    host: str = ""
    pid: int = 0
    context: str = ""
    environment: Environment = Environment.PRODUCTION
    selector: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.pid}"


class StreamIdentity(Struct, frozen=True):
    """Which stream this is, so that another one of the same name is noticed.

    Attributes:
        replication_ids: Its server's replication IDs, main and second; empty where INFO is not permitted.
        last_generated_id: The stream's last generated ID, which never goes back in one stream; none where
            the key did not exist or XINFO STREAM is not permitted.
        positions: Last delivered ID of the groups that matter, by name.
    """

    replication_ids: tuple[str, ...] = ()
    last_generated_id: EntryId | None = None
    positions: tuple[tuple[str, EntryId], ...] = ()

    def floor(self, group: str) -> EntryId | None:
        """The position that a group must not be behind; none where it was not read."""
        return dict(self.positions).get(group)
