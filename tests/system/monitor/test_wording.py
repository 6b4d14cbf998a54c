import shutil
import subprocess

import pytest
from hypothesis import given

from streamops.model.wording import quoted
from tests.support.strategies import names

BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="no bash on this machine")
@given(names())
def test_bash_reads_back_the_very_bytes(name: str) -> None:
    raw = name.encode("utf-8", "surrogateescape")
    if b"\0" in raw:
        # No shell can hold such an argument.
        return
    script = f"printf %s {quoted(name)}".encode()
    assert BASH is not None
    assert subprocess.run([BASH], input=script, capture_output=True, check=True).stdout == raw
