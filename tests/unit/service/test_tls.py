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
from streamops.service.web_config import ClientAuth, TlsServerConfig, server_context
from tests.support.deployments import Certificates


def config(certificates: Certificates, **given: Any) -> TlsServerConfig:
    files = {
        "cert_file": str(certificates.server_certificate_file),
        "key_file": str(certificates.server_key_file),
    }
    return TlsServerConfig(**(files | given))


def context(certificates: Certificates, **given: Any) -> ssl.SSLContext:
    return server_context(config(certificates, **given), Path("/nowhere"), "web.yml")


def test_clients_show_certificates_where_that_is_asked(certificates: Certificates) -> None:
    made = context(
        certificates, client_auth_type=ClientAuth.REQUIRED, client_ca_file=str(certificates.ca_file)
    )
    assert made.verify_mode is ssl.CERT_REQUIRED


def test_tls_settings_that_nobody_stated_are_safe(certificates: Certificates) -> None:
    made = context(certificates)
    assert made.verify_mode is ssl.CERT_NONE
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2
    assert made.options & ssl.OP_CIPHER_SERVER_PREFERENCE


def test_files_are_relative_to_the_web_config(certificates: Certificates) -> None:
    given = config(certificates, cert_file="server.pem", key_file="server-key.pem")
    assert server_context(given, certificates.ca_file.parent, "web.yml").get_ciphers()


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
        ({"key_file": "k\0"}, "no name of a file"),
        ({"key_file": str(tmp_path / "other-key")}, "no certificate with its key: key values mismatch"),
        ({"key_file": str(tmp_path / "sealed")}, "the key is encrypted"),
        ({"cert_file": str(tmp_path / "rubbish")}, "no certificate with its key"),
        ({"client_ca_file": "/missing", "client_auth_type": required}, "client_ca_file: cannot read"),
        (
            {"client_ca_file": str(tmp_path / "rubbish"), "client_auth_type": required},
            "holds no certificates",
        ),
    ]
    for given, problem in cases:
        with pytest.raises(SettingsError) as failure:
            context(certificates, **given)
        assert problem in failure.value.message
        assert failure.value.message.startswith("web.yml: tls_server_config")
        assert failure.value.hint
