"""redis-py's exceptions and the server's error replies, translated."""

import re
import ssl
from enum import StrEnum

from msgspec import Struct
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MaxConnectionsError,
    NoPermissionError,
    NoScriptError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as RedisTimeoutError

from streamops.errors import NotFound, Refused, ServerError, UnexpectedReply, Unreachable, Unsupported

DENIALS = ("NOPERM", "ACL failure in script", "executing the script can't")
DEFAULT_LABEL = "redis://127.0.0.1:6379/0"


class FaultKind(StrEnum):
    """Why one command of a batch had no answer."""

    DENIED = "denied"
    MISSING = "missing"
    WRONG_TYPE = "wrong_type"
    UNSUPPORTED = "unsupported"
    UNREACHABLE = "unreachable"
    NO_SCRIPT = "no_script"
    OTHER = "other"


class Fault(Struct, frozen=True):
    """One command's failure, as a value among the replies of a batch.

    Attributes:
        kind: What kind of failure.
        reason: Why, in words that name the missing permission where one is missing.
    """

    kind: FaultKind
    reason: str

    def error(self, what: str) -> ServerError:
        """The same as an error to raise, told about ``what``."""
        message = f"{what}: {self.reason}"
        match self.kind:
            case FaultKind.DENIED:
                return Refused(
                    message,
                    "Ask for the permission; `streamops doctor --acl observer` prints what is needed.",
                )
            case FaultKind.MISSING | FaultKind.WRONG_TYPE:
                return NotFound(
                    message, "List what there is with `streamops streams ls` and `streamops groups ls`."
                )
            case FaultKind.UNSUPPORTED:
                return Unsupported(message, "streamops needs Redis 6.2 or later, or Valkey.")
            case FaultKind.UNREACHABLE:
                return Unreachable(message, "Try again; the rest of the deployment may answer.")
            case _:
                return UnexpectedReply(message, "Run `streamops doctor` to see what this server can do.")


def fault(error: Exception) -> Fault:
    """What an error reply, or the failure of a whole node, means for one command."""
    text = _plain(error)
    if isinstance(error, NoPermissionError) or any(words in text for words in DENIALS):
        return Fault(FaultKind.DENIED, _denied(text))
    if isinstance(error, NoScriptError):
        return Fault(FaultKind.NO_SCRIPT, "the script is not cached")
    if not isinstance(error, ResponseError):
        return Fault(FaultKind.UNREACHABLE, _connection_words(error))
    if "no such key" in text or "NOGROUP" in text:
        return Fault(FaultKind.MISSING, "gone" if "no such key" in text else "no such group")
    if "WRONGTYPE" in text or "wrong kind of value" in text:
        return Fault(FaultKind.WRONG_TYPE, "not a stream")
    if "unknown command" in text.lower() or "unknown subcommand" in text.lower():
        return Fault(FaultKind.UNSUPPORTED, f"the server does not know it: {text}")
    return Fault(FaultKind.OTHER, f"the server answered: {text}")


def server_error(error: Exception, label: str, user: str | None = None) -> ServerError:
    """The error to raise where a server as a whole cannot be asked. Never holds a secret."""
    text = _plain(error)
    if isinstance(error, AuthenticationError) or "WRONGPASS" in text or "NOAUTH" in text:
        return _login_refused(text, label, user)
    if isinstance(error, NoPermissionError):
        return Refused(
            f"{label}: {_denied(text)}",
            "Ask for the permission; `streamops doctor --acl observer` prints what is needed.",
        )
    if isinstance(error, ResponseError) and not isinstance(
        error, (ReadOnlyError, MasterDownError, ClusterDownError)
    ):
        return UnexpectedReply(
            f"{label} answered: {text}", "Is this a Redis or Valkey server, with that database?"
        )
    return Unreachable(
        f"{label} cannot be reached: {_connection_words(error)}", _connection_hint(error, label)
    )


def _login_refused(text: str, label: str, user: str | None) -> Refused:
    who = f"user {user!r}" if user else "the default user"
    if "NOAUTH" in text or "Authentication required" in text:
        return Refused(
            f"{label} wants a password and none was given",
            "Give the context a `password_file` or `password_command`, or put the user into the URL.",
        )
    return Refused(
        f"{label} refused the password of {who}",
        "Check `username` and the password's source in the context, and that the ACL user is on.",
    )


def _connection_words(error: Exception) -> str:
    text = _plain(error)
    if isinstance(error, (TimeoutError, RedisTimeoutError)):
        return "no answer in time"
    if isinstance(error, BusyLoadingError):
        return "it is loading its data into memory"
    if isinstance(error, MaxConnectionsError):
        return "all of our connections are in use"
    cause = error.__cause__ or error.__context__
    if isinstance(cause, ssl.SSLError) or "SSL" in text or "CERTIFICATE" in text:
        return f"TLS failed: {text}"
    return text or type(error).__name__


def _connection_hint(error: Exception, label: str) -> str:
    if "TLS failed" in _connection_words(error):
        return "Check `ca`, `cert`, `key` and `sni`, and that the port speaks TLS."
    if label == DEFAULT_LABEL:
        return "Name a server with `--url` or `--context`, or try `streamops demo`."
    if isinstance(error, (TimeoutError, RedisTimeoutError)):
        return "Check address and firewall, or wait longer with `--timeout`."
    return "Check that the server runs and that address and port are right."


def _denied(text: str) -> str:
    if found := re.search(r"permissions? to run the '([^']+)'", text):
        return f"no permission for {found[1].upper().replace('|', ' ')}"
    if "key" in text:
        return "no permission for this key"
    return f"no permission: {text}"


def _plain(error: Exception) -> str:
    """The error's text on one line, without redis-py's prefixes."""
    return re.sub(
        r"^Error (-?\d+ )?(while )?connecting to [^:]*(:\d+)?\. ?", "", " ".join(str(error).split())
    )


__all__ = ["Fault", "FaultKind", "RedisError", "fault", "server_error"]
