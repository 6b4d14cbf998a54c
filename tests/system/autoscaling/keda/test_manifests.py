"""What is applied to have KEDA ask the scaler."""

import subprocess
import sys
from pathlib import Path

from streamops.service.processes import module_environment
from tests.support.autoscaling.keda.manifests import PLAIN, container


def test_the_configuration_is_valid(tmp_path: Path) -> None:
    (text,) = PLAIN["ConfigMap"]["data"].values()
    secret = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}["password"]
    (tmp_path / "password").write_text("invented\n")
    path = tmp_path / "streamops.toml"
    path.write_text(text.replace(secret, str(tmp_path)))
    checked = subprocess.run(
        [sys.executable, "-m", "streamops", "config", "validate"],
        env=module_environment() | {"STREAMOPS_CONFIG": str(path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
