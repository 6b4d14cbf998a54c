"""What is checked before the first write: limits, permissions, and that the server is still the one of the plan."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from streamops.errors import Forbidden, StalePlan, StreamopsError
from streamops.model.acting import Limits, Plan
from streamops.monitor.inspection import read_stream
from streamops.operations.operation import Operation, Prepared
from streamops.wire.keys import OWN_PREFIX, is_own_key, is_undo_key
from streamops.wire.permissions import refused_writes
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from streamops.wire.writes.jobs import JOBS, job_key

JOB_WRITES: Final = (("HSET", job_key("none")), ("EXPIRE", job_key("none")), ("ZADD", JOBS))
NO_REPLICATION_ID: Final = "0" * 40
OWN_KEY: Final = f"keys that begin with {OWN_PREFIX} are reserved for streamops"
OWN_KEY_HINT: Final = "Nothing was done. `streamops audit ls` and `streamops jobs ls` read them; other programs can change them."
STALE_HINT: Final = "Nothing was done. Make a new plan."


def check_limits(plan: Plan, limits: Limits) -> None:
    """Raises ``Forbidden`` if a plan counts another number than the operator insists on."""
    name = f"{plan.operation} {plan.target}"
    if limits.expect is not None and plan.recurring:
        raise Forbidden(
            f"{name}: it repeats with new entries, so no number can be expected",
            "Leave out --expect, or do it once.",
        )
    if limits.expect is not None and plan.count != limits.expect:
        raise Forbidden(
            f"{name}: {plan.count:,} selected, {limits.expect:,} expected",
            "Nothing was done. Check the selection.",
        )
    if plan.count > limits.most:
        raise Forbidden(
            f"{name}: {plan.count:,} selected, more than the {limits.most:,} allowed",
            "Nothing was done. Narrow the selection, or allow more with --max N.",
        )


def check_fingerprint(plan: Plan, limits: Limits) -> None:
    """Raises ``StalePlan`` if the operator insists on another plan."""
    if limits.fingerprint and plan.fingerprint != limits.fingerprint:
        raise StalePlan(
            f"{plan.operation} {plan.target}: the plan is {plan.fingerprint} now, not {limits.fingerprint}",
            STALE_HINT,
        )


def check_own_keys(operation: Operation[Any, Any], intent: Struct) -> None:
    """Raises ``Forbidden`` if an operation would write to what streamops keeps for itself."""
    keys = [operation.stream_of(intent) or "", *(key for _, key in operation.writes_of(intent))]
    if not operation.own and (own := next(filter(is_own_key, keys), None)) is not None:
        raise Forbidden(f"{operation.name} {own}: {OWN_KEY}", OWN_KEY_HINT)


async def check_permissions(server: Server, prepared: Prepared[Any, Any], *, unaudited: bool) -> None:
    """Ask for everything that will be sent; raises ``ServerError`` for the first thing that would be refused.

    What is kept for undoing belongs to the record: without one it is not asked for, and where the log itself cannot be
    written, that is what will be told.
    """
    writes = prepared.operation.writes_of(prepared.intent)
    kept = [pair for pair in writes if is_undo_key(pair[1])]
    needed = [pair for pair in writes if not is_undo_key(pair[1])]
    # Scripts ask for the time, some of them after a write.
    asked = [*needed, ("TIME", AUDIT), *(JOB_WRITES if prepared.is_job else ())]
    refused = await refused_writes(server, asked)
    if not refused and kept and not unaudited and not await refused_writes(server, [("XADD", AUDIT)]):
        refused = await refused_writes(server, kept)
    if refused:
        command, key, why = refused[0]
        error = why.error(f"{command} on {key}")
        raise type(error)(error.message, f"Nothing was done. {permission_hint(error)}")


async def audit_warnings(server: Server, *, unaudited: bool) -> tuple[str, ...]:
    """What the operator should know where an action could not be put on record now; writes nothing."""
    try:
        refused = await refused_writes(server, [("XADD", AUDIT)])
    except StreamopsError as error:
        why = error.message
    else:
        if not refused:
            return ()
        why = refused[0][2].error(AUDIT).message.removeprefix(f"{AUDIT}: ")
    then = "it would leave no record" if unaudited else "applying is refused unless --unaudited"
    return (f"The audit log cannot be written: {why}; {then}.",)


async def check_identity(server: Server, prepared: Prepared[Any, Any]) -> None:
    """Raises ``StalePlan`` if another server answers than when the plan was made, or the stream is another one."""
    stream = prepared.operation.stream_of(prepared.intent)
    planned = prepared.identity
    if stream is None or planned is None:
        return
    _, now = await read_stream(server, stream)
    if _is_another(planned.replication_ids, now.replication_ids):
        raise StalePlan(
            f"stream {stream}: another server answers now than when the plan was made", STALE_HINT
        )
    before, after = planned.last_generated_id, now.last_generated_id
    if before is not None and (after is None or after < before):
        raise StalePlan(f"stream {stream}: it is another stream of that name now", STALE_HINT)


def _is_another(planned: Sequence[str], now: Sequence[str]) -> bool:
    """Whether two sets of replication IDs are of different servers; a failover keeps one of them."""
    return bool(planned and now) and not ({*planned} & {*now}) - {NO_REPLICATION_ID}


def permission_hint(error: StreamopsError) -> str:
    """An error's hint for who acts: it takes more than looking does."""
    return error.hint.replace("--acl observer", "--acl operator")
