"""redis-py's exceptions and the server's error replies, translated."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, TypeVar

from msgspec import Struct
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    InvalidResponse,
    MasterDownError,
    MaxConnectionsError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as RedisTimeoutError

from streamops.errors import (
    NotFound,
    Refused,
    ServerError,
    StalePlan,
    StreamopsError,
    UnexpectedReply,
    Unreachable,
    Unsupported,
)
from streamops.model.streams import NO_SUCH_STREAM
from streamops.wire.redis_internals import ReplyTooLargeError

DENIALS = ("NOPERM", "ACL failure in script", "executing the script can't")
DRIFT = "DRIFT "
"""How our scripts begin the error with which they refuse to act on another state than the plan's."""

TOO_FEW = "NOREPLICAS "
"""How a primary refuses writes that too few replicas would get; scripts have it in the middle of their errors."""

NO_MEMORY = "the server is out of memory and refuses writes"
KEY_DENIED = "no permission for this key"
REPLICA = "it is a read-only replica"
PRIMARY_HINT = "Another server is the primary: connect to that one; Sentinels or the cluster know which."
LONGEST = 200
DEFAULT_LABEL = "redis://127.0.0.1:6379/0"


class PrimaryReplacedError(LostConnection):
    """Another server is the primary than before; it may lack entries of the former one."""


class SentinelLoginError(AuthenticationError):
    """A Sentinel itself wants another password than the one it was given."""


class FaultKind(StrEnum):
    """Why one command of a batch had no answer."""

    DENIED = "denied"
    MISSING = "missing"
    WRONG_TYPE = "wrong_type"
    UNSUPPORTED = "unsupported"
    UNREACHABLE = "unreachable"
    NO_SCRIPT = "no_script"
    DRIFT = "drift"
    MEMORY = "memory"
    MOVING = "moving"
    OTHER = "other"


NOT_THERE: Final = "List what there is with `streamops streams ls` and `streamops groups ls`."
WRONG_TYPE: Final = "The key holds another type of value. `streamops streams ls` lists the streams there are."


class Fault(Struct, frozen=True):
    """One command's failure, as a value among the replies of a batch.

    Attributes:
        kind: What kind of failure.
        reason: Why, in words that name the missing permission if one is missing.
    """

    kind: FaultKind
    reason: str

    @property
    def denies_command(self) -> bool:
        """Whether a command was denied as such, and not only on this key."""
        return self.kind is FaultKind.DENIED and self.reason != KEY_DENIED

    def error(self, what: str) -> StreamopsError:
        """The same as an error to raise, told about ``what``."""
        message = f"{what}: {self.reason}"
        match self.kind:
            case FaultKind.DRIFT:
                return StalePlan(message, "Nothing was done. Make a new plan.")
            case FaultKind.MEMORY:
                return ServerError(
                    message, "Trim or delete something, or raise maxmemory; removing entries still works."
                )
            case FaultKind.MOVING:
                return ServerError(message, "Nothing was lost. Try again once the slot has arrived.")
            case FaultKind.DENIED:
                return Refused(
                    message,
                    "Ask for the permission; `streamops doctor --acl observer` prints what is needed.",
                )
            case FaultKind.MISSING | FaultKind.WRONG_TYPE:
                return NotFound(message, WRONG_TYPE if self.kind is FaultKind.WRONG_TYPE else NOT_THERE)
            case FaultKind.UNSUPPORTED:
                return Unsupported(message, "streamops needs Redis 6.2 or later, or Valkey.")
            case FaultKind.UNREACHABLE:
                elsewhere = self.reason == REPLICA
                return Unreachable(
                    message,
                    PRIMARY_HINT if elsewhere else "Try again; the rest of the deployment may answer.",
                )
            case _:
                return UnexpectedReply(message, "Run `streamops doctor` to see what this server can do.")


Value = TypeVar("Value")


def with_faults(replies: Iterable[Any]) -> list[Any]:
    """The replies, each error as its fault."""
    return [fault(reply) if isinstance(reply, Exception) else reply for reply in replies]


def required(reply: Value | Fault | Exception, what: str) -> Value:
    """A reply; raises its error, said of ``what``, if it is one."""
    if isinstance(reply, Exception):
        reply = fault(reply)
    if isinstance(reply, Fault):
        raise reply.error(what)
    return reply


def fault(error: Exception) -> Fault:
    """What an error reply, or the failure of a whole node, means for one command."""
    text = _plain(error)
    if isinstance(error, NoPermissionError) or any(words in text for words in DENIALS):
        return Fault(FaultKind.DENIED, _denied(text))
    if isinstance(error, NoScriptError):
        return Fault(FaultKind.NO_SCRIPT, "the script is not cached")
    if isinstance(error, OutOfMemoryError):
        # redis-py takes the word off the text.
        return Fault(FaultKind.MEMORY, NO_MEMORY)
    if isinstance(error, TryAgainError):
        return Fault(FaultKind.MOVING, "its hash slot is on its way to another node of the cluster")
    if isinstance(error, AskError):
        return Fault(FaultKind.UNREACHABLE, "served by another node of the cluster")
    if is_read_only(error) or _is_passing(error, text) or not isinstance(error, ResponseError):
        return Fault(FaultKind.UNREACHABLE, _connection_words(error))
    return _answered(text)


def _answered(text: str) -> Fault:
    """What an error in the server's own words means."""
    if text.startswith(DRIFT):
        return Fault(FaultKind.DRIFT, text.removeprefix(DRIFT).strip())
    if "OOM" in text:
        return Fault(FaultKind.MEMORY, NO_MEMORY)
    if "no such key" in text or "NOGROUP" in text:
        return Fault(FaultKind.MISSING, NO_SUCH_STREAM if "no such key" in text else "no such group")
    if "WRONGTYPE" in text or "wrong kind of value" in text:
        return Fault(FaultKind.WRONG_TYPE, "not a stream")
    if "unknown command" in text.lower() or "unknown subcommand" in text.lower():
        return Fault(FaultKind.UNSUPPORTED, f"the server does not know it: {text}")
    return Fault(FaultKind.OTHER, f"the server answered: {text}")


def server_error(error: Exception, label: str, user: str | None = None, *, tls: bool = False) -> ServerError:
    """The error to raise where a server as a whole cannot be asked. Never holds a secret."""
    text = _plain(error)
    if isinstance(error, AuthenticationError) or "WRONGPASS" in text or "NOAUTH" in text:
        return _login_refused(error, label, user)
    if isinstance(error, NoPermissionError):
        return Refused(
            f"{label}: {_denied(text)}",
            "Ask for the permission; `streamops doctor --acl observer` prints what is needed.",
        )
    if text.startswith("DENIED"):
        return Refused(
            f"{label} is in protected mode and talks to its own machine only",
            "Give its default user a password, or connect from there.",
        )
    if isinstance(error, InvalidResponse):
        return UnexpectedReply(
            f"{label} does not speak Redis's protocol",
            "Check address and port, and whether it wants TLS (rediss://).",
        )
    if isinstance(error, ReplyTooLargeError):
        return UnexpectedReply(
            f"{label} cannot be read: {text}",
            "Is this a Redis or Valkey server, and nothing between it and you? streamops never asks for that much.",
        )
    if "cluster support disabled" in text:
        return UnexpectedReply(f"{label} is not a cluster", "Connect to it without `cluster`.")
    if isinstance(error, ResponseError) and not (is_read_only(error) or _is_passing(error, text)):
        return UnexpectedReply(
            f"{label} answered: {text}", "Is this a Redis or Valkey server, with that database?"
        )
    return Unreachable(
        f"{label} cannot be reached: {_connection_words(error)}", _connection_hint(error, label, tls=tls)
    )


def is_read_only(error: Exception) -> bool:
    """Whether a server refuses writes because it is a replica: since a failover, another one is the primary.

    Redis 6.2 hides that in the text of errors of scripts.
    """
    return isinstance(error, ReadOnlyError) or "-READONLY " in str(error)


def _is_passing(error: Exception, text: str) -> bool:
    """Whether the server answers, and would rather be asked later."""
    passing = (BusyLoadingError, MasterDownError, ClusterDownError)
    return isinstance(error, passing) or text.startswith("BUSY ") or "-MASTERDOWN " in text or TOO_FEW in text


def _login_refused(error: Exception, label: str, user: str | None) -> Refused:
    sentinel = isinstance(error, SentinelLoginError)
    whom = f"a Sentinel of {label}" if sentinel else label
    if "NOAUTH" in str(error) or "Authentication required" in str(error):
        return Refused(
            f"{whom} wants a password and none was given",
            "Give the context a `sentinel_password_file` or `sentinel_password_command`."
            if sentinel
            else "Give the context a `password_file` or `password_command`, or put the user into the URL.",
        )
    if sentinel:
        return Refused(
            f"{whom} refused its password",
            "Check `sentinel_username` and the source of the Sentinels' password in the context.",
        )
    who = f"user {user!r}" if user else "the default user"
    return Refused(
        f"{whom} refused the password of {who}",
        "Check `username` and the password's source in the context, and that the ACL user is on.",
    )


_CONNECTION_WORDS: Final[dict[type[Exception], str]] = {
    TimeoutError: "no answer in time",
    RedisTimeoutError: "no answer in time",
    BusyLoadingError: "it is loading its data into memory",
    MaxConnectionsError: "all connections of the pool are in use",
}


def _connection_words(error: Exception) -> str:
    text = _plain(error)
    for kind, words in _CONNECTION_WORDS.items():
        if isinstance(error, kind):
            return words
    if is_read_only(error):
        return REPLICA
    if text.startswith("BUSY "):
        return "it is busy running a script"
    if TOO_FEW in text:
        return "it takes no writes while it has too few replicas (min-replicas-to-write)"
    if "SSL" in text or "CERTIFICATE" in text or "certificate" in text:
        told = re.search(r"\] (.*?)\.? \(_ssl", text)
        return f"TLS failed: {told[1] if told else text}"
    # The second is uvloop's.
    if "Connect call failed" in text or "Connection refused" in text:
        return "the connection was refused"
    if any(
        words in text for words in ("Connection reset", "Connection lost", "Broken pipe", "closed by server")
    ):
        return "the server closed the connection"
    return text or type(error).__name__


def _connection_hint(error: Exception, label: str, *, tls: bool) -> str:
    words = _connection_words(error)
    if isinstance(error, PrimaryReplacedError):
        return "Check what was applied: writes that the former primary had not replicated are lost."
    if is_read_only(error):
        return PRIMARY_HINT
    if _is_passing(error, _plain(error)):
        return "Try again in a moment."
    if words.startswith("TLS failed") or (tls and words == "the server closed the connection"):
        return "Check `ca`, `cert`, `key` and `sni`: a server that wants a certificate hangs up without one."
    if label == DEFAULT_LABEL:
        return "Name a server with `--url` or `--context`, or try `streamops demo`."
    if isinstance(error, (TimeoutError, RedisTimeoutError)):
        port = " and that the port speaks TLS" if tls else ""
        return f"Check address and firewall{port}, or wait longer with `--timeout`."
    what = "the path of its socket is" if label.startswith("unix:") else "address and port are"
    return f"Check that the server runs and that {what} right."


def _denied(text: str) -> str:
    if found := re.search(r"permissions? to run the '([^']+)'", text):
        return f"no permission for {found[1].upper().replace('|', ' ')}"
    if "key" in text:
        return KEY_DENIED
    # Redis 6.2 and 7.0 do not say which, of those that a script calls.
    return "no permission for a command that this takes" if "script" in text else f"no permission: {text}"


def _plain(error: Exception) -> str:
    """The error's text on one line, without redis-py's prefixes and without what the server repeats of ours."""
    text = " ".join(str(error).split())
    text = re.sub(r"^Error (-?\d+ )?(while )?connecting to .*?\. ", "", text).rstrip(".")
    # A server that does not know AUTH answers with its arguments: the password.
    text = re.sub(r",? with args beginning with:.*", "", text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


__all__ = ["Fault", "FaultKind", "RedisError", "fault", "required", "server_error"]
