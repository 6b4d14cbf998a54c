"""From ``tls_server_config`` to Python's ``ssl``."""

import ssl
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from streamops.errors import SettingsError
from streamops.service.web_config import ClientAuth, TlsServerConfig

VERIFY: Final = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.IF_GIVEN: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}


def tls_files(config: TlsServerConfig, directory: Path) -> tuple[Path, ...]:
    """The files that a configuration names."""
    named = (config.cert_file, config.key_file, config.client_ca_file)
    return tuple(directory / name for name in named if name)


def server_context(config: TlsServerConfig, directory: Path, where: str) -> ssl.SSLContext:
    """What a server speaks TLS with.

    Args:
        config: What the file says.
        directory: What names of files are relative to.
        where: The web-config file, for errors.

    Raises:
        SettingsError: A file cannot be read or is none of its kind.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    place = f"{where}: tls_server_config"
    named = Named(place, f"{place}.cert_file", f"{place}.key_file")
    load_certificate(context, directory / config.cert_file, directory / config.key_file, named)
    if config.client_ca_file:
        load_authorities(context, directory / config.client_ca_file, f"{place}.client_ca_file")
    context.verify_mode = VERIFY[config.client_auth_type]
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class Named(NamedTuple):
    """What people call the files of a certificate: in a web-config file, on a command line.

    Attributes:
        both: The two together.
        certificate: The chain's file.
        key: Its key's.
    """

    both: str
    certificate: str
    key: str


def load_certificate(context: ssl.SSLContext, certificate: Path, key: Path, named: Named) -> None:
    """Load a certificate with its key; raises ``SettingsError`` where it cannot be used."""
    for name, path in ((named.certificate, certificate), (named.key, key)):
        _check_readable(path, name)
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise SettingsError(
            f"{named.both}: {certificate} and {key} are no certificate with its key: {_reason(error)}",
            "Both are PEM; the key is not encrypted.",
        ) from None


def load_authorities(context: ssl.SSLContext, path: Path, name: str) -> None:
    """Load the authorities that sign clients' certificates; raises ``SettingsError`` where there are none."""
    _check_readable(path, name)
    try:
        context.load_verify_locations(cafile=path)
    except (ssl.SSLError, OSError) as error:
        raise SettingsError(f"{name}: {path} holds no certificates: {_reason(error)}", "It is PEM.") from None


def _check_readable(path: Path, name: str) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise SettingsError(
            f"{name}: cannot read {path}: {error.strerror}", "Check the name and its permissions."
        ) from None


def _no_password() -> NoReturn:
    # Without this OpenSSL would ask whoever sits at the terminal.
    raise ValueError("the key is encrypted")


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    return str(error)
