"""From ``tls_server_config`` to Python's ``ssl``."""

import ssl
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from streamops.errors import SettingsError
from streamops.process.web.web_config import ClientAuth, TlsServerConfig, TlsVersion

VERSIONS: Final = {
    TlsVersion.TLS10: ssl.TLSVersion.TLSv1,
    TlsVersion.TLS11: ssl.TLSVersion.TLSv1_1,
    TlsVersion.TLS12: ssl.TLSVersion.TLSv1_2,
    TlsVersion.TLS13: ssl.TLSVersion.TLSv1_3,
}
VERIFY: Final = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.IF_GIVEN: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}
CIPHERS: Final = {
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
}
"""OpenSSL's names of Go's suites, up to TLS 1.2."""

TLS13_CIPHERS: Final = frozenset(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
)
"""Always on, here as in Go."""

CURVES: Final = {
    "CurveP256": "prime256v1",
    "CurveP384": "secp384r1",
    "CurveP521": "secp521r1",
    "X25519": "X25519",
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
        SettingsError: A file cannot be read or is none of its kind, or OpenSSL does not know what is asked for.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    place = f"{where}: tls_server_config"
    named = Named(place, f"{place}.cert_file", f"{place}.key_file")
    load_certificate(context, directory / config.cert_file, directory / config.key_file, named)
    if config.client_ca_file:
        load_authorities(context, directory / config.client_ca_file, f"{place}.client_ca_file")
    context.verify_mode = VERIFY[config.client_auth_type]
    context.minimum_version = VERSIONS[config.min_version]
    context.maximum_version = VERSIONS[config.max_version]
    if not config.prefer_server_cipher_suites:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    _choose_ciphers(context, config, place)
    _choose_curve(context, config, place)
    return context


def tls_warnings(config: TlsServerConfig) -> tuple[str, ...]:
    """What the configuration says and this server does not do, a sentence each."""
    if len(config.curve_preferences) > 1:
        return ("curve_preferences: Python can prefer one curve alone; OpenSSL's own order is used",)
    return ()


def has_allowed_name(certificate: dict[str, Any] | None, allowed: Iterable[str]) -> bool:
    """Whether one of a client certificate's alternative names is one of those that are let in."""
    names = {_plain(kind, name) for kind, name in (certificate or {}).get("subjectAltName", ())}
    return not names.isdisjoint(_plain("", name) for name in allowed)


def _plain(kind: str, name: str) -> str:
    """A name; an address in its one form, because OpenSSL writes those of IPv6 at length."""
    if kind in {"", "IP Address"}:
        try:
            return str(ip_address(name))
        except ValueError:
            pass
    return name


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


def _choose_ciphers(context: ssl.SSLContext, config: TlsServerConfig, place: str) -> None:
    asked = [name for name in config.cipher_suites if name not in TLS13_CIPHERS]
    if unknown := [name for name in asked if name not in CIPHERS]:
        raise SettingsError(
            f"{place}.cipher_suites: not known: {', '.join(unknown)}", f"Known: {', '.join(CIPHERS)}."
        )
    if not asked:
        return
    try:
        context.set_ciphers(":".join(CIPHERS[name] for name in asked))
    except ssl.SSLError as error:
        raise SettingsError(
            f"{place}.cipher_suites: OpenSSL has none of them: {_reason(error)}", "Leave the key out."
        ) from None


def _choose_curve(context: ssl.SSLContext, config: TlsServerConfig, place: str) -> None:
    if unknown := [name for name in config.curve_preferences if name not in CURVES]:
        raise SettingsError(
            f"{place}.curve_preferences: not known: {', '.join(unknown)}", f"Known: {', '.join(CURVES)}."
        )
    if len(config.curve_preferences) == 1:
        context.set_ecdh_curve(CURVES[config.curve_preferences[0]])


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    return str(error)
