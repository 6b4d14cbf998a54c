"""Processes that stay do without what only takes memory."""

import os
import subprocess
import sys
from pathlib import Path

import trustme

LEAN = """
import sys
from streamops.process.lean import without
with without("rich", "opentelemetry"):
    import structlog.dev
    with without("rich"):
        import streamops.operate.console
print(sorted({name.split(".")[0] for name in sys.modules} & {"rich", "pygments", "opentelemetry"}))
import rich.console
with without("rich"):
    print("rich.console" in sys.modules)
print("rich.console" in sys.modules)
"""


def test_others_are_loaded_without_it_and_whoever_wants_it_later_finds_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAN], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.split() == ["[]", "True", "True"]


SPARED = """
import ssl
from streamops.process.lean import without_authorities

def known(context):
    return context.cert_store_stats()["x509_ca"]

def bare():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_default_verify_paths()
    return context

before = known(ssl.create_default_context()), known(bare())
with without_authorities():
    from aiohttp.connector import _SSL_CONTEXT_UNVERIFIED, _SSL_CONTEXT_VERIFIED
print(known(_SSL_CONTEXT_VERIFIED), known(_SSL_CONTEXT_UNVERIFIED))
print(before[0], before == (known(ssl.create_default_context()), known(bare())))
"""


def test_contexts_made_meanwhile_know_no_authorities_and_later_ones_do(tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_bytes(trustme.CA().cert_pem.bytes())
    done = subprocess.run(
        [sys.executable, "-c", SPARED],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={**os.environ, "SSL_CERT_FILE": str(authority), "SSL_CERT_DIR": str(tmp_path / "none")},
    )
    assert done.stdout.split() == ["0", "0", "1", "True"]
