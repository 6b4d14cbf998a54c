"""A home, a working directory and an environment of a test's own."""

import os
from pathlib import Path

from streamops.settings.files import trust_project
from streamops.settings.load import Flags, Settings, load_settings

PLANTED = "hunter2-of-the-north"


def named_config(directory: Path) -> dict[str, str]:
    """What has a process use the configuration file of a directory, where there is one, as its user's own."""
    path = directory / "streamops.toml"
    return {"STREAMOPS_CONFIG": str(path)} if path.exists() else {}


class Place:
    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.cwd = root / "project"
        self.user_file = self.home / ".config" / "streamops" / "config.toml"
        self.project_file = self.cwd / "streamops.toml"
        self.user_file.parent.mkdir(parents=True)
        self.cwd.mkdir()

    def write_user(self, text: str, *, mode: int = 0o600) -> Path:
        self.user_file.write_text(text)
        self.user_file.chmod(mode)
        return self.user_file

    def write_project(self, text: str) -> Path:
        self.project_file.write_text(text)
        return self.project_file

    def write_trusted(self, text: str) -> Path:
        """A project's file that the user trusts."""
        self.write_project(text)
        trust_project(self.project_file, self.environ())
        return self.project_file

    def write_password(self, content: bytes | str = PLANTED, name: str = "password") -> Path:
        path = self.home / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(0o600)
        return path

    def environ(self, **variables: str) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.defpath, **variables}

    def load(self, flags: Flags | None = None, **variables: str) -> Settings:
        return load_settings(flags or Flags(), self.environ(**variables), self.cwd)
