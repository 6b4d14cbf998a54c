"""The interface, held against what KEDA's own file says, and the code that was generated of it."""

import subprocess
import sys
from pathlib import Path

from tests.support.autoscaling.keda.serving import PROTO
from tests.support.project import PROJECT

ROOT = PROJECT


def test_the_generated_code_is_of_the_file_as_it_is(tmp_path: Path) -> None:
    generate = ("-m", "grpc_tools.protoc", "-I.", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}")
    source = PROTO.relative_to(ROOT)
    subprocess.run([sys.executable, *generate, str(source)], cwd=ROOT, check=True, timeout=60)
    for ending in ("py", "pyi"):
        name = f"externalscaler_pb2.{ending}"
        written = (tmp_path / source.parent / name).read_text()
        assert PROTO.with_name(name).read_text() == written, f"{source} says how to write {name} anew"
