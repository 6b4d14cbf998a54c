"""The instructions of the image; and the image built and run without a docker engine: ``python -m tests.support.grafana.image``.

A base of Debian's own Python, made by debootstrap, stands in for the image that the ``Dockerfile`` pins, as the registry of that is not asked.
buildah builds on it, in directories: root's rights are needed, but neither namespaces nor an engine.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

from streamops.testing import embedded_redis
from tests.support.grafana.stack import ROOT
from tests.support.prometheus import fetch

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in DOCKERFILE.replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]
PACKAGES = "ca-certificates,python3,python3-venv,python3-pip,python-is-python3"
DEBOOTSTRAP = shutil.which("debootstrap") or "debootstrap"
AUTHORITIES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
WRITABLE: Final = (
    "find / -xdev -writable -type d ! -path '/tmp*' ! -path '/var/tmp*' ! -path '/run/*' ! -path '/var/lock*'"
)


def arguments(instruction: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


def copied_sources() -> list[str]:
    """What is copied from the repository."""
    return [
        source
        for words in (rest.split() for rest in arguments("COPY") if not rest.startswith("--from="))
        for source in words[:-1]
    ]


class Images:
    """The images of one directory, and what is done with them."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._command = [
            "buildah",
            "--root",
            f"{place}/images",
            "--runroot",
            f"{place}/run",
            "--storage-driver",
            "vfs",
        ]

    def buildah(self, *words: str) -> str:
        done = subprocess.run([*self._command, *words], cwd=ROOT, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"buildah {words[0]}: {done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout.strip()

    def make_base(self) -> str:
        """An image of Debian with Python and pip, which trusts whom this machine trusts."""
        system = self._place / "debian"
        subprocess.run(
            [DEBOOTSTRAP, "--variant=minbase", f"--include={PACKAGES}", "bookworm", system],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        for mark in system.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            mark.unlink()
        shutil.copy(AUTHORITIES, system / AUTHORITIES.relative_to("/"))
        container = self.buildah("from", "scratch")
        self.buildah("add", container, str(system), "/")
        settings = {"PIP_CERT": str(AUTHORITIES)} | {
            name: value
            for name, value in os.environ.items()
            if name in {"PIP_INDEX_URL", "HTTPS_PROXY", "NO_PROXY"}
        }
        self.buildah("config", *(f"--env={name}={value}" for name, value in settings.items()), container)
        self.buildah("commit", "--rm", container, "localhost/python")
        return "localhost/python"

    def build(self, base: str) -> str:
        """What ``docker build`` does, on another base; the container to run commands in."""
        self.buildah("build", "--isolation=chroot", f"--build-arg=BASE={base}", "--tag=streamops", ".")
        return self.buildah("from", "streamops")

    def run(self, container: str, *words: str) -> str:
        return self.buildah("run", "--isolation=chroot", container, "--", *words)

    def page_of_exporter(self, container: str) -> str:
        """What the image's own command serves of an empty server, on a port that the kernel chose."""
        with embedded_redis() as server:
            assert server.socket_path is not None
            socket = Path(server.socket_path)
            socket.parent.chmod(0o755)
            socket.chmod(0o666)
            command = [*json.loads(arguments("ENTRYPOINT")[0]), *json.loads(arguments("CMD")[0])]
            command = [word.replace("0.0.0.0:9641", "127.0.0.1:0") for word in command]
            words = [*self._command, "run", "--isolation=chroot", f"--volume={socket.parent}:/redis"]
            words += [f"--env=STREAMOPS_URL=unix:///redis/{socket.name}", container, "--", *command]
            with subprocess.Popen(
                words, stderr=subprocess.PIPE, text=True, start_new_session=True
            ) as exporter:
                try:
                    assert exporter.stderr is not None
                    serving = next(line for line in exporter.stderr if "http://" in line)
                    address = re.search(r"http://127\.0\.0\.1:\d+", serving)
                    assert address, serving
                    return fetch(f"{address[0]}/metrics").decode()
                finally:
                    os.killpg(exporter.pid, signal.SIGTERM)


def build_and_run(place: Path) -> None:
    images = Images(place)
    container = images.build(images.make_base())
    sys.stdout.write(f"{images.run(container, 'streamops', '--version')}\n")
    assert "\nstreamops_up 1\n" in images.page_of_exporter(container)
    assert images.run(container, "id", "-u") == arguments("USER")[0].partition(":")[0]
    writable = images.run(container, "sh", "-c", f"{WRITABLE} 2>/dev/null || true").split()
    assert not [path for path in writable if not path.startswith(("/proc", "/dev", "/sys"))], writable


if __name__ == "__main__":
    build_and_run(Path(sys.argv[1]).resolve())
