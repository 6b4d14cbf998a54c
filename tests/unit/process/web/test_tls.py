"""From what a web-config file says of TLS to what OpenSSL does."""

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from streamops.errors import SettingsError
from streamops.process.web.tls import CIPHERS, has_allowed_name, server_context, tls_warnings
from streamops.process.web.web_config import ClientAuth, TlsServerConfig, TlsVersion
from tests.support.deployments import Certificates


def config(certificates: Certificates, **given: Any) -> TlsServerConfig:
    files = {
        "cert_file": str(certificates.server_certificate_file),
        "key_file": str(certificates.server_key_file),
    }
    return TlsServerConfig(**(files | given))


def context(certificates: Certificates, **given: Any) -> ssl.SSLContext:
    return server_context(config(certificates, **given), Path("/nowhere"), "web.yml")


def test_tls_settings_that_are_asked_for_are_set(certificates: Certificates) -> None:
    made = context(
        certificates,
        client_auth_type=ClientAuth.REQUIRED,
        client_ca_file=str(certificates.ca_file),
        min_version=TlsVersion.TLS12,
        max_version=TlsVersion.TLS12,
        cipher_suites=("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"),
        prefer_server_cipher_suites=False,
        curve_preferences=("CurveP384",),
    )
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert (made.minimum_version, made.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
    below_13 = [one["name"] for one in made.get_ciphers() if one["protocol"] != "TLSv1.3"]
    assert below_13 == ["ECDHE-RSA-AES256-GCM-SHA384"]
    assert not made.options & ssl.OP_CIPHER_SERVER_PREFERENCE


def test_tls_settings_that_nobody_stated_are_safe(certificates: Certificates) -> None:
    made = context(certificates)
    assert made.verify_mode is ssl.CERT_NONE
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2
    assert made.options & ssl.OP_CIPHER_SERVER_PREFERENCE


def test_files_are_relative_to_the_web_config(certificates: Certificates) -> None:
    given = config(certificates, cert_file="server.pem", key_file="server-key.pem")
    assert server_context(given, certificates.ca_file.parent, "web.yml").get_ciphers()


@pytest.mark.parametrize("name", CIPHERS)
def test_openssl_knows_every_suite_by_our_name_for_it(name: str) -> None:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.set_ciphers(f"{CIPHERS[name]}:@SECLEVEL=0")
    assert CIPHERS[name] in [one["name"] for one in made.get_ciphers()]


def test_what_cannot_be_used_is_told(certificates: Certificates, tmp_path: Path) -> None:
    other = trustme.CA().issue_cert("localhost")
    other.private_key_pem.write_to_path(tmp_path / "other-key")
    key = load_pem_private_key(certificates.server_key_file.read_bytes(), None)
    sealed = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
    (tmp_path / "sealed").write_bytes(sealed)
    (tmp_path / "rubbish").write_text("rubbish")
    required = ClientAuth.REQUIRED
    cases: list[tuple[dict[str, Any], str]] = [
        ({"cert_file": "/missing"}, "cert_file: cannot read /missing"),
        ({"key_file": "/missing"}, "key_file: cannot read /missing"),
        ({"key_file": str(tmp_path)}, "Is a directory"),
        ({"key_file": str(tmp_path / "other-key")}, "no certificate with its key: key values mismatch"),
        ({"key_file": str(tmp_path / "sealed")}, "the key is encrypted"),
        ({"cert_file": str(tmp_path / "rubbish")}, "no certificate with its key"),
        ({"client_ca_file": "/missing", "client_auth_type": required}, "client_ca_file: cannot read"),
        (
            {"client_ca_file": str(tmp_path / "rubbish"), "client_auth_type": required},
            "holds no certificates",
        ),
        ({"cipher_suites": ("TLS_NULL",)}, "cipher_suites: not known: TLS_NULL"),
        ({"curve_preferences": ("Curve25519",)}, "curve_preferences: not known: Curve25519"),
    ]
    for given, problem in cases:
        with pytest.raises(SettingsError) as failure:
            context(certificates, **given)
        assert problem in failure.value.message
        assert failure.value.message.startswith("web.yml: tls_server_config")
        assert failure.value.hint


def test_several_curves_are_warned_of(certificates: Certificates) -> None:
    assert tls_warnings(config(certificates)) == ()
    (warning,) = tls_warnings(config(certificates, curve_preferences=("X25519", "CurveP256")))
    assert "one curve" in warning


@pytest.mark.parametrize(
    ("names", "allowed", "let_in"),
    [
        ([("DNS", "a.example.net")], ["a.example.net"], True),
        ([("DNS", "a.example.net"), ("email", "x@y")], ["x@y"], True),
        ([("IP Address", "0:0:0:0:0:0:0:1")], ["::1"], True),
        ([("URI", "spiffe://a/b")], ["spiffe://a/b"], True),
        ([("DNS", "b.example.net")], ["a.example.net"], False),
        ([("DNS", "sub.a.example.net")], ["a.example.net"], False),
        ([], ["a"], False),
    ],
)
def test_alternative_names(names: list[tuple[str, str]], allowed: list[str], let_in: bool) -> None:  # noqa: FBT001 - a table
    assert has_allowed_name({"subjectAltName": tuple(names)}, allowed) is let_in
    assert not has_allowed_name(None, allowed)
