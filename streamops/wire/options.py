"""How to reach a server: plain data, composed by ``settings``, spent by ``connect``."""

from datetime import timedelta

from msgspec import Struct

from streamops.model.secret import Secret
from streamops.model.streams import Mode

__all__ = ["ConnectionOptions", "Secret", "Tls"]


class Tls(Struct, frozen=True):
    """TLS towards the server.

    Attributes:
        ca_file: PEM file of the authorities to trust; none for the system's.
        certificate_file: PEM file of the client's certificate.
        key_file: PEM file of its key.
        server_name: Name to ask for (SNI) and to check the certificate against; none for the host.
        verify: Whether the server's certificate is checked at all.
    """

    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    server_name: str | None = None
    verify: bool = True


class ConnectionOptions(Struct, frozen=True):
    """One server, Sentinel deployment or cluster, and how to log in to it.

    Attributes:
        mode: How the servers are arranged.
        addresses: Host and port pairs: the server, the Sentinels, or seeds of the cluster.
            Empty where ``socket_path`` is set.
        socket_path: Path of a unix socket.
        database: Database number; zero on a cluster.
        username: ACL user; none for the default user.
        password: Its password.
        tls: TLS settings; none for plain TCP.
        sentinel_service: Name of the service that the Sentinels watch.
        sentinel_username: ACL user on the Sentinels themselves.
        sentinel_password: Password on the Sentinels themselves.
        timeout: Read timeout.
        client_name: What CLIENT LIST shows.
        label: The address in words, without secrets, for messages and crumbs.
    """

    mode: Mode = Mode.STANDALONE
    addresses: tuple[tuple[str, int], ...] = (("127.0.0.1", 6379),)
    socket_path: str | None = None
    database: int = 0
    username: str | None = None
    password: Secret | None = None
    tls: Tls | None = None
    sentinel_service: str | None = None
    sentinel_username: str | None = None
    sentinel_password: Secret | None = None
    timeout: timedelta = timedelta(seconds=2)
    client_name: str = "streamops"
    label: str = "redis://127.0.0.1:6379/0"

    @property
    def short_name(self) -> str:
        """The fewest words that tell it apart: Sentinel's service, the socket's file, or ``host:port``."""
        if self.sentinel_service is not None:
            return self.sentinel_service
        if self.socket_path is not None:
            return self.socket_path.rsplit("/", 1)[-1]
        host, port = self.addresses[0]
        return f"{host}:{port}"
