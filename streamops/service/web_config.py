"""The web-config file of Prometheus's exporter-toolkit: certificates, client CA and passwords, read strictly; and Python's ``ssl`` of it."""

import re
import ssl
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import msgspec
import yaml
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.removed import removed_hint

MOST_BYTES: Final = 1 << 20
HINT: Final = "Its format: https://github.com/prometheus/exporter-toolkit, docs/web-configuration.md."

_HASH: Final = re.compile(r"\$2[aby]\$(0[4-9]|1[0-8])\$[./A-Za-z0-9]{53}")
_TYPES: Final = {
    "object": "a mapping",
    "array": "a list",
    "str": "a string",
    "int": "an integer",
    "bool": "true or false",
    "null": "nothing",
}


class ClientAuth(StrEnum):
    """What is asked of clients, in Go's words; those that ask for a certificate without checking it are missing."""

    NONE = "NoClientCert"
    IF_GIVEN = "VerifyClientCertIfGiven"
    REQUIRED = "RequireAndVerifyClientCert"


VERIFY: Final = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.IF_GIVEN: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}


class TlsServerConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``tls_server_config``; the names of files are absolute, or relative to the directory of the web-config file."""

    cert_file: str
    key_file: str
    client_auth_type: ClientAuth = ClientAuth.NONE
    client_ca_file: str = ""

    def __post_init__(self) -> None:
        if not self.cert_file or not self.key_file:
            raise ValueError("cert_file and key_file must not be empty")
        if self.client_auth_type is ClientAuth.NONE and self.client_ca_file:
            raise ValueError("client_ca_file without a client_auth_type that asks for certificates")
        if self.client_auth_type is not ClientAuth.NONE and not self.client_ca_file:
            raise ValueError(f"client_auth_type {self.client_auth_type} without a client_ca_file")


class WebConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file; what is absent is not asked for.

    Attributes:
        tls_server_config: TLS; none for plain HTTP.
        basic_auth_users: bcrypt hashes by user name; without any, every client is let in.
    """

    tls_server_config: TlsServerConfig | None = None
    basic_auth_users: dict[str, str] | None = None

    def __post_init__(self) -> None:
        for name, written in (self.basic_auth_users or {}).items():
            if ":" in name:
                raise ValueError("basic_auth_users: a user's name holds a colon")
            if _HASH.fullmatch(written) is None:
                raise ValueError(
                    f"basic_auth_users: what stands for {name!r} is no bcrypt hash of a cost from 4 to 18"
                )


def read_web_config(path: Path) -> WebConfig:
    """Read a file; it is checked as far as that goes without opening others.

    Raises:
        SettingsError: It cannot be read, or understood. What it holds is not repeated: it may be a secret.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be read: {error.strerror}", "Check the name and its permissions."
        ) from None
    if len(content) > MOST_BYTES:
        raise SettingsError(f"{path}: larger than any web-config file", HINT)
    return decode_web_config(content, str(path))


def decode_web_config(content: bytes, path: str) -> WebConfig:
    """Decode a file's content; raises ``SettingsError``."""
    try:
        stated = yaml.load(content.decode("utf-8-sig"), _Loader)  # noqa: S506 - a safe loader
        _refuse_unsupported(stated, path)
        return WebConfig() if stated is None else msgspec.convert(stated, WebConfig)
    except msgspec.ValidationError as error:
        problem = f": {_in_words(str(error))}"
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = f"{place}: not YAML: {error.problem}"
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        # Of a value that its tag does not fit, such as !!bool maybe, PyYAML says so in any of these.
        problem = ": not YAML in UTF-8"
    raise SettingsError(f"{path}{problem}", HINT)


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice, which YAML forbids and PyYAML lets pass."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(keys) != len(set(keys)):
            raise yaml.constructor.ConstructorError(
                problem="a key is written twice", problem_mark=node.start_mark
            )
        return super().construct_mapping(node, deep)


def _refuse_unsupported(stated: Any, path: str) -> None:  # noqa: ANN401 - any YAML
    """Say in words what is right for exporter-toolkit and cannot be done here."""
    tls = stated.get("tls_server_config") if isinstance(stated, dict) else None
    inner = {f"tls_server_config.{key}": value for key, value in tls.items()} if isinstance(tls, dict) else {}
    for key, value in {**(stated if isinstance(stated, dict) else {}), **inner}.items():
        for what in (f"{key}", f"{key} = {value}"):
            if hint := removed_hint(f"web-config.{what}"):
                raise SettingsError(f"{path}: {what} is not supported", hint)
    if isinstance(tls, dict) and tls.get("client_auth_type") == "":
        del tls["client_auth_type"]


def _in_words(text: str) -> str:
    """A sentence of msgspec in YAML's words, its place first: ``basic_auth_users: expected a mapping, got a list``."""
    sentence, _, place = text.partition(" - at `$")
    words = re.sub(r"`([a-z]+(?: \| [a-z]+)*)`", _types_in_words, sentence)
    where = place.strip("`.")
    return f"{where}: {words[:1].lower()}{words[1:]}" if where else words[:1].lower() + words[1:]


def _types_in_words(types: re.Match[str]) -> str:
    """Types of msgspec, such as ``object | null``, in YAML's words; anything else as it stands."""
    words = [_TYPES.get(word, "") for word in types[1].split(" | ")]
    return " or ".join(words) if all(words) else types[0]


def marks_of(paths: Iterable[Path]) -> dict[Path, tuple[int, ...] | None]:
    """Marks of files that change when the files do; none for a file that cannot be looked at."""
    return {path: _mark(path) for path in paths}


def _mark(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


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
    named = CertificateNames(place, f"{place}.cert_file", f"{place}.key_file")
    load_certificate(context, directory / config.cert_file, directory / config.key_file, named)
    if config.client_ca_file:
        load_authorities(context, directory / config.client_ca_file, f"{place}.client_ca_file")
    context.verify_mode = VERIFY[config.client_auth_type]
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class CertificateNames(NamedTuple):
    """What people call the files of a certificate: in a web-config file, on a command line.

    Attributes:
        both: The two together.
        certificate: The chain's file.
        key: Its key's.
    """

    both: str
    certificate: str
    key: str


def load_certificate(context: ssl.SSLContext, certificate: Path, key: Path, named: CertificateNames) -> None:
    """Load a certificate with its key; raises ``SettingsError`` if it cannot be used."""
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
    """Load the authorities that sign clients' certificates; raises ``SettingsError`` if there are none."""
    _check_readable(path, name)
    try:
        context.load_verify_locations(cafile=path)
    except (ssl.SSLError, OSError) as error:
        raise SettingsError(f"{name}: {path} holds no certificates: {_reason(error)}", "It is PEM.") from None


def _check_readable(path: Path, name: str) -> None:
    try:
        with path.open("rb"):
            pass
    except (OSError, ValueError) as error:
        # ValueError: a character that no name of a file may hold.
        reason = getattr(error, "strerror", None) or "no name of a file"
        raise SettingsError(
            f"{name}: cannot read {path}: {reason}", "Check the name and its permissions."
        ) from None


def _no_password() -> NoReturn:
    # Without this OpenSSL would ask at the terminal.
    raise ValueError("the key is encrypted")


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    return str(error)
