"""The web-config file of Prometheus's exporter-toolkit: its YAML read strictly, checked, and read again once it has changed."""

import os
import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import yaml
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.removed import removed_hint


class NotYamlError(ValueError):
    """What was read is no YAML that can be used.

    Attributes:
        place: Where, in words that follow a file's name; empty where that is not known.
        reason: Why, in words that follow "not YAML".
    """

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"not YAML{reason}{place}")
        self.place = place
        self.reason = reason


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice, which YAML forbids and PyYAML lets pass."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(keys) != len(set(keys)):
            raise yaml.constructor.ConstructorError(
                problem="a key stands twice", problem_mark=node.start_mark
            )
        return super().construct_mapping(node, deep)


def load_yaml(content: bytes) -> Any:  # noqa: ANN401 - whatever it holds
    """What UTF-8 text holds.

    Raises:
        NotYamlError: It is no YAML, or says a key twice.
    """
    try:
        return yaml.load(content.decode("utf-8-sig"), _Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise NotYamlError(f": {error.problem}", place) from None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        # Of a value that its tag does not fit, such as !!bool maybe, PyYAML says so in any of these.
        raise NotYamlError(" in UTF-8") from None


class Mark(NamedTuple):
    """What tells that a file is another one than before."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def marks_of(paths: Iterable[Path]) -> dict[Path, Mark | None]:
    """The marks of some files as they are; none for those that cannot be looked at."""
    return {path: _mark(path) for path in paths}


def _mark(path: Path) -> Mark | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return Mark(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


MOST_BYTES: Final = 1 << 20
HINT: Final = "Its format: https://github.com/prometheus/exporter-toolkit, docs/web-configuration.md."
INLINE: Final = ("cert", "key", "client_ca")

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


UNVERIFIED: Final = frozenset({"RequestClientCert", "RequireAnyClientCert", "RequireClientCert"})


class TlsServerConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``tls_server_config``; the names of files are absolute, or relative to the directory of the web-config file."""

    cert_file: str
    key_file: str
    client_auth_type: ClientAuth = ClientAuth.NONE
    client_ca_file: str = ""

    def __post_init__(self) -> None:
        if not self.cert_file or not self.key_file:
            raise ValueError("cert_file and key_file must not be empty")
        if not all(map(_may_be_a_file, (self.cert_file, self.key_file, self.client_ca_file))):
            raise ValueError("the name of a file holds a character that none may hold")
        if self.client_auth_type is ClientAuth.NONE and self.client_ca_file:
            raise ValueError("client_ca_file without a client_auth_type that asks for certificates")
        if self.client_auth_type is not ClientAuth.NONE and not self.client_ca_file:
            raise ValueError(f"client_auth_type {self.client_auth_type} without a client_ca_file")


class WebConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file; what is absent is not asked for.

    Attributes:
        tls_server_config: TLS; none for plain HTTP.
        basic_auth_users: Hashes by user name; none at all lets everybody in.
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

    @property
    def users(self) -> dict[str, str]:
        """Hashes by user name."""
        return self.basic_auth_users or {}


def _may_be_a_file(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


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
        stated = load_yaml(content)
    except NotYamlError as error:
        raise SettingsError(f"{path}{error.place}: not YAML{error.reason}", HINT) from None
    if stated is None:
        return WebConfig()
    _refuse_known(stated, path)
    try:
        return msgspec.convert(stated, WebConfig)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{path}: {_in_words(str(error))}", HINT) from None
    except RecursionError:
        raise SettingsError(f"{path}: not YAML in UTF-8", HINT) from None


def _in_words(text: str) -> str:
    """A sentence of msgspec in YAML's words, its place first: ``basic_auth_users: expected a mapping, got a list``."""
    sentence, _, place = text.partition(" - at `$")
    words = re.sub(r"`([a-z]+(?: \| [a-z]+)*)`", _told, sentence)
    where = place.strip("`.")
    return f"{where}: {words[:1].lower()}{words[1:]}" if where else words[:1].lower() + words[1:]


def _told(types: re.Match[str]) -> str:
    """Types of msgspec, such as ``object | null``, in YAML's words; anything else as it stands."""
    words = [_TYPES.get(word) for word in types[1].split(" | ")]
    return " or ".join(word for word in words if word) if all(words) else types[0]


def _refuse_known(stated: Any, path: str) -> None:  # noqa: ANN401 - whatever the YAML says
    """Say in words what is right for exporter-toolkit and cannot be done here."""
    tls = stated.get("tls_server_config") if isinstance(stated, dict) else None
    tls = tls if isinstance(tls, dict) else {}
    for key in (*(stated if isinstance(stated, dict) else ()), *(f"tls_server_config.{key}" for key in tls)):
        if hint := removed_hint(f"web-config.{key}"):
            raise SettingsError(f"{path}: {key} is not supported", hint)
    for key in INLINE:
        if tls.get(key):
            raise SettingsError(
                f"{path}: tls_server_config.{key}: inline certificates and keys are not read here",
                f"Write it to a file of its own and name that in {key}_file.",
            )
    asked = tls.get("client_auth_type")
    if isinstance(asked, str) and asked in UNVERIFIED:
        raise SettingsError(
            f"{path}: client_auth_type: {asked} takes certificates without checking them, "
            "which cannot be done here",
            f"Use {ClientAuth.REQUIRED} with a client_ca_file.",
        )
    if asked == "":
        del tls["client_auth_type"]
