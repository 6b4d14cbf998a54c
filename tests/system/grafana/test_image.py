import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from dashboards.boards.every import board_files
from tests.support.grafana.image import arguments, copied_sources
from tests.support.grafana.stack import ROOT

SHIPPED = "streamops/dashboards/"
"""Where the wheel has the rules and the boards."""


def test_the_package_can_be_built_from_what_is_copied(tmp_path: Path) -> None:
    for source in copied_sources():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, tmp_path)
    (install,) = [words for words in arguments("RUN") if words.endswith(" .")]
    options = [word for word in install.split() if word in {"--no-deps", "--no-build-isolation"}]
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", *options, "--wheel-dir", "wheels", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    assert "streamops/main/program.py" in archive.namelist()
    shipped = {name.removeprefix(SHIPPED) for name in archive.namelist() if name.startswith(SHIPPED)}
    assert shipped == {"streamops.rules.yml", "RUNBOOKS.md"} | board_files().keys()
    for name in shipped:
        assert archive.read(SHIPPED + name) == (ROOT / "dashboards" / name).read_bytes()
