"""TLS for gRPC: certificates that are read again when they are renewed."""

import ssl
import threading
from pathlib import Path
from typing import Final

import grpc
import structlog
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.service.web_config import CertificateNames, load_authorities, load_certificate, marks_of

LOG: Final = structlog.get_logger("streamops.keda")

NAMED: Final = CertificateNames("--tls-cert, --tls-key", "--tls-cert", "--tls-key")
CLIENT_CA: Final = "--tls-client-ca"


class TlsFiles(Struct, frozen=True, kw_only=True):
    """PEM files.

    Attributes:
        certificate: The server's certificate with those that lead to its authority.
        key: Its key, not encrypted.
        client_authorities: Who signs clients' certificates; each client must have one, where this is given.
    """

    certificate: Path
    key: Path
    client_authorities: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        more = () if self.client_authorities is None else (self.client_authorities,)
        return (self.certificate, self.key, *more)


def server_credentials(files: TlsFiles) -> grpc.ServerCredentials:
    """What a server speaks TLS with; files that change are in force for the next connection.

    Raises:
        SettingsError: A file cannot be read or is none of its kind.
    """
    kept = _CurrentConfig(files)
    return grpc.dynamic_ssl_server_credentials(
        kept.configuration, kept.fetch, require_client_authentication=files.client_authorities is not None
    )


class _CurrentConfig:
    """The configuration in force. Connections are greeted by gRPC's own threads."""

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._marks = marks_of(files.paths)
        self.configuration = _read(files)

    def fetch(self) -> grpc.ServerCertificateConfiguration:
        """The configuration of the files as they are, or the last good one, which the log says once."""
        with self._lock:
            marks = marks_of(self._files.paths)
            if marks != self._marks:
                self._marks = marks
                self._renew()
            return self.configuration

    def _renew(self) -> None:
        try:
            self.configuration = _read(self._files)
        except SettingsError as error:
            LOG.error("certificate not taken, the one before stays in force", problem=error.message)  # noqa: TRY400 - for people
        else:
            LOG.info("certificate read again", file=str(self._files.certificate))


def _read(files: TlsFiles) -> grpc.ServerCertificateConfiguration:
    # gRPC tells what is wrong with a file only to whoever tries to connect: OpenSSL looks at them first.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_certificate(context, files.certificate, files.key, NAMED)
    if files.client_authorities is not None:
        load_authorities(context, files.client_authorities, CLIENT_CA)
    try:
        pair = (files.key.read_bytes(), files.certificate.read_bytes())
        authorities = None if files.client_authorities is None else files.client_authorities.read_bytes()
    except OSError as error:
        raise SettingsError(f"{NAMED.both}: {error}", "Check the names and their permissions.") from None
    return grpc.ssl_server_certificate_configuration([pair], authorities)
