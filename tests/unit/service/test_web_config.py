"""What a web-config file may say, and what is said of one that cannot be understood."""

import re
from pathlib import Path

import pytest

from streamops.errors import ExitCode, SettingsError
from streamops.service.web_config import ClientAuth, WebConfig, decode_web_config, read_web_config
from tests.support.tables import table

HASH = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"

# The sample of exporter-toolkit's documentation, as far as it is supported.
COMPLETE = f"""
tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
basic_auth_users:
  alice: {HASH}
  bob: {HASH}
"""


def decode(text: str) -> WebConfig:
    return decode_web_config(text.encode(), "web.yml")


def test_a_complete_file() -> None:
    config = decode(COMPLETE)
    assert config.tls_server_config is not None
    assert config.tls_server_config.client_auth_type is ClientAuth.REQUIRED
    assert config.basic_auth_users == {"alice": HASH, "bob": HASH}


@table("text", ["", "# nothing\n", "{}", "tls_server_config:\nbasic_auth_users:\n"])
def test_an_empty_file_asks_nothing_of_anybody(text: str) -> None:
    config = decode(text)
    assert (config.tls_server_config, config.basic_auth_users) == (None, None)


TLS = "tls_server_config: {cert_file: c, key_file: k"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\ttls_server_config: {}", "line 1, column 1: not YAML"),
        ("- 1", "expected a mapping"),
        ("tls_config: {}", "unknown field `tls_config`"),
        ("tls_server_config: {}", "cert_file"),
        ("tls_server_config: {cert_file: c}", "key_file"),
        ('tls_server_config: {cert_file: "", key_file: k}', "must not be empty"),
        (f"{TLS}, keyfile: x}}", "tls_server_config: object contains unknown field `keyfile`"),
        (f"{TLS}, client_ca_file: a}}", "without a client_auth_type"),
        (f"{TLS}, client_auth_type: RequireAndVerifyClientCert}}", "without a client_ca_file"),
        (f"{TLS}, client_auth_type: Always}}", "invalid enum value"),
        ("basic_auth_users: {alice: secret-of-hers}", "no bcrypt hash"),
        (f"basic_auth_users: {{alice: {HASH.replace('$10$', '$31$')}}}", "no bcrypt hash of a cost"),
        (f'basic_auth_users: {{"a:b": {HASH}}}', "a colon"),
        (f"basic_auth_users: {{alice: {HASH}, alice: {HASH}}}", "a key is written twice"),
        ("basic_auth_users: {true: x}", "expected a string"),
        ("a: &a [*a]\ntls_server_config: *a", ""),
        ("!!python/object/apply:os.system [id]", "not YAML"),
        pytest.param("[" * 1_000, "not YAML", id="deep"),
        (f"{TLS}, client_auth_type: [RequireAnyClientCert]}}", "client_auth_type: expected a string"),
        ("tls_server_config: !!bool maybe", "not YAML"),
        ("basic_auth_users: [alice]", "basic_auth_users: expected a mapping or nothing, got a list"),
    ],
)
def test_malformed_file_is_refused_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as failure:
        decode(text)
    assert failure.value.message.startswith("web.yml")
    assert problem in failure.value.message
    assert "\n" not in failure.value.message
    assert "secret-of-hers" not in failure.value.message
    assert failure.value.hint
    assert failure.value.exit_code is ExitCode.USAGE


@table(
    ("text", "key"),
    [
        ("rate_limit: {interval: 1s, burst: 1}", "rate_limit"),
        ("http_server_config: {http2: false}", "http_server_config"),
        (f"{TLS}, client_allowed_sans: [a]}}", "tls_server_config.client_allowed_sans"),
        (f"{TLS}, min_version: TLS13}}", "tls_server_config.min_version"),
        (f"{TLS}, cipher_suites: [TLS_AES_128_GCM_SHA256]}}", "tls_server_config.cipher_suites"),
        (f"{TLS}, curve_preferences: [X25519]}}", "tls_server_config.curve_preferences"),
        (f"{TLS}, key: secret}}", "tls_server_config.key"),
        (
            f"{TLS}, client_auth_type: RequireAnyClientCert}}",
            "tls_server_config.client_auth_type = RequireAnyClientCert",
        ),
    ],
)
def test_an_unsupported_key_is_named_with_what_to_do(text: str, key: str) -> None:
    with pytest.raises(SettingsError) as failure:
        decode(text)
    assert failure.value.message == f"web.yml: {key} is not supported"
    assert failure.value.hint.startswith(
        ("Leave it out", "Write it to a file", "It takes certificates without")
    )


def test_what_is_no_text_is_no_yaml() -> None:
    with pytest.raises(SettingsError, match="not YAML"):
        decode_web_config(b"\xff\xfe\x00\x01", "web.yml")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=re.escape("cannot be read: No such file")):
        read_web_config(tmp_path / "missing.yml")
    with pytest.raises(SettingsError, match="Is a directory"):
        read_web_config(tmp_path)
    (tmp_path / "large.yml").write_bytes(b"#" * (2 << 20))
    with pytest.raises(SettingsError, match="larger than any"):
        read_web_config(tmp_path / "large.yml")
