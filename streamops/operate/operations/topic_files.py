"""Files that a topic's secrets are read from; what they hold never reaches an error."""

from pathlib import Path
from typing import Final

from streamops.errors import SettingsError
from streamops.model.secret import Secret

MOST_BYTES: Final = 64 * 1024


def read_secret(path: str) -> Secret:
    """The secret in a file, without the line end; raises ``SettingsError``."""
    text = _read(path, "--secret-file").rstrip("\r\n")
    if not text or "\n" in text:
        raise SettingsError(
            f"--secret-file: {path} holds no secret on one line", "`openssl rand -hex 32` makes one."
        )
    return Secret(text)


def read_headers(path: str) -> tuple[tuple[str, str], ...]:
    """The headers in a file, ``Name: value`` a line; raises ``SettingsError`` that names the line."""
    headers = []
    for number, line in enumerate(_read(path, "--headers-file").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise SettingsError(
                f"--headers-file: {path}: line {number} is no header", "Write `Name: value`, one a line."
            )
        headers.append((name.strip(), value.strip()))
    return tuple(headers)


def _read(path: str, flag: str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) <= MOST_BYTES:
            return content.decode()
        problem = "is far too long"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        problem = "is not UTF-8"
    raise SettingsError(f"{flag}: {path} {problem}", "Check the name, its content and its permissions.")
