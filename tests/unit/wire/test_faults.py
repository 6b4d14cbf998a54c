"""Error replies and failed connections, told in words."""

import pytest
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 - redis-py's own, which is what is translated
    ExecAbortError,
    MaxConnectionsError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,  # noqa: A004 - the same
)

from streamops.errors import NotFound, Refused, UnexpectedReply, Unreachable, Unsupported
from streamops.wire.faults import DEFAULT_LABEL, LONGEST, Fault, FaultKind, fault, server_error
from tests.support.tables import table

LABEL = "redis://db:6379/0"


@table(
    ("error", "kind", "reason"),
    [
        (
            NoPermissionError("User x has no permissions to run the 'xinfo|stream' command"),
            FaultKind.DENIED,
            "no permission for XINFO STREAM",
        ),
        (
            NoPermissionError("this user has no permissions to run the 'eval' command or its subcommand"),
            FaultKind.DENIED,
            "no permission for EVAL",
        ),
        (
            NoPermissionError("User keykeeper has no permissions to run the 'eval' command"),
            FaultKind.DENIED,
            "no permission for EVAL",
        ),
        (
            NoPermissionError("No permissions to access a key"),
            FaultKind.DENIED,
            "no permission for this key",
        ),
        (
            NoPermissionError("this user has no permissions to access one of the keys used as arguments"),
            FaultKind.DENIED,
            "no permission for this key",
        ),
        (
            ResponseError("ERR The user executing the script can't run this command or subcommand"),
            FaultKind.DENIED,
            "no permission for a command that this takes",
        ),
        (
            ResponseError("ACL failure in script: User x has no permissions to run the 'xrange' command"),
            FaultKind.DENIED,
            "no permission for XRANGE",
        ),
        (
            ExecAbortError(
                "Transaction discarded because of: NOPERM User x has no permissions to run the 'exec' command"
            ),
            FaultKind.DENIED,
            "no permission for EXEC",
        ),
        (NoScriptError("No matching script."), FaultKind.NO_SCRIPT, "the script is not cached"),
        (ResponseError("no such key"), FaultKind.MISSING, "no such stream"),
        (
            ResponseError("NOGROUP No such key 'a' or consumer group 'b'"),
            FaultKind.MISSING,
            "no such group",
        ),
        (
            ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value"),
            FaultKind.WRONG_TYPE,
            "not a stream",
        ),
        (
            ResponseError("unknown command `EVAL_RO`, with args beginning with: `secret`, "),
            FaultKind.UNSUPPORTED,
            "the server does not know it: unknown command `EVAL_RO`",
        ),
        (AskError("42 127.0.0.1:1"), FaultKind.UNREACHABLE, "served by another node of the cluster"),
        (MovedError("42 127.0.0.1:1"), FaultKind.UNREACHABLE, "served by another node of the cluster"),
        (ClusterDownError("The cluster is down"), FaultKind.UNREACHABLE, "The cluster is down"),
        (TimeoutError("Timeout reading from socket"), FaultKind.UNREACHABLE, "no answer in time"),
        (BusyLoadingError("Redis is loading"), FaultKind.UNREACHABLE, "it is loading its data into memory"),
        (MaxConnectionsError("Too many"), FaultKind.UNREACHABLE, "all connections of the pool are in use"),
        (
            ConnectionError("Error 111 connecting to db:6379. Connect call failed ('10.0.0.1', 6379)."),
            FaultKind.UNREACHABLE,
            "the connection was refused",
        ),
        # As uvloop says it.
        (
            ConnectionError("Error 111 connecting to db:6379. Connection refused."),
            FaultKind.UNREACHABLE,
            "the connection was refused",
        ),
        (
            ConnectionError("Error 2 connecting to /run/my.sock. No such file or directory."),
            FaultKind.UNREACHABLE,
            "No such file or directory",
        ),
        (
            ConnectionError("Error UNKNOWN while writing to socket. Connection lost."),
            FaultKind.UNREACHABLE,
            "the server closed the connection",
        ),
        (ConnectionResetError("Connection lost"), FaultKind.UNREACHABLE, "the server closed the connection"),
        (BrokenPipeError(32, "Broken pipe"), FaultKind.UNREACHABLE, "the server closed the connection"),
        (OSError(), FaultKind.UNREACHABLE, "OSError"),
        (ResponseError("ERR something\r\nelse"), FaultKind.OTHER, "the server answered: ERR something else"),
    ],
)
def test_error_is_told_by_its_kind_and_reason(error: Exception, kind: FaultKind, reason: str) -> None:
    assert fault(error) == Fault(kind, reason)


@table(
    ("kind", "error"),
    [
        (FaultKind.DENIED, Refused),
        (FaultKind.MISSING, NotFound),
        (FaultKind.WRONG_TYPE, NotFound),
        (FaultKind.UNSUPPORTED, Unsupported),
        (FaultKind.UNREACHABLE, Unreachable),
        (FaultKind.NO_SCRIPT, UnexpectedReply),
        (FaultKind.OTHER, UnexpectedReply),
    ],
)
def test_faults_as_errors(kind: FaultKind, error: type[Exception]) -> None:
    raised = Fault(kind, "a reason").error("stream orders")
    assert type(raised) is error
    assert raised.message == "stream orders: a reason"
    assert raised.hint


def test_only_a_refused_command_counts_as_denied() -> None:
    assert fault(NoPermissionError("User x has no permissions to run the 'eval' command")).denies_command
    assert not fault(NoPermissionError("No permissions to access a key")).denies_command
    assert not fault(ResponseError("no such key")).denies_command


@pytest.mark.parametrize(
    "error",
    [
        ReadOnlyError("You can't write against a read only replica."),
        ReadOnlyError("You can't write against a read only replica. script: 58, on @user_script:3."),
        # As Redis 6.2 tells it of a script.
        ResponseError(
            "ERR Error running script (call to f_58): @user_script:3: @user_script: 3: "
            "-READONLY You can't write against a read only replica."
        ),
    ],
)
def test_a_replica_is_no_place_to_write_and_may_be_retried(error: Exception) -> None:
    told = fault(error)
    assert told == Fault(FaultKind.UNREACHABLE, "it is a read-only replica")
    assert type(told.error("stream orders")) is Unreachable


@table(
    ("error", "expected", "words"),
    [
        (ResponseError("WRONGPASS invalid username-password pair"), Refused, "refused the password"),
        (ReadOnlyError("You can't write against a read only replica."), Unreachable, "read-only"),
        (ResponseError("BUSY Redis is busy running a script."), Unreachable, "busy running a script"),
        (ResponseError("NOREPLICAS Not enough good replicas to write."), Unreachable, "too few replicas"),
        (ClusterDownError("Hash slot not served"), Unreachable, "Hash slot not served"),
        (NoPermissionError("User x has no permissions to run the 'ping' command"), Refused, "PING"),
    ],
)
def test_an_error_of_a_server_is_of_its_kind_with_a_hint(
    error: Exception, expected: type[Exception], words: str
) -> None:
    raised = server_error(error, LABEL, "x")
    assert type(raised) is expected
    assert raised.message.startswith(LABEL)
    assert words in raised.message
    assert raised.hint


def test_passing_trouble_is_worth_another_try() -> None:
    for error in (BusyLoadingError("loading"), ResponseError("BUSY busy"), ClusterDownError("down")):
        assert server_error(error, DEFAULT_LABEL).hint == "Try again in a moment."


def test_long_answers_are_cut() -> None:
    raised = server_error(ResponseError("x" * 10_000), LABEL)
    assert len(raised.message) < LONGEST + 100
