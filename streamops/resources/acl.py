"""ACL rules that are enough for one way of using streamops, and no more."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

STREAM: Final = "STREAM"
"""What stands in rules in place of a stream's name."""

# What each command is for, and that the sets are enough: the tests of ``operations`` run on servers of every version as such a user.
_READS: Final = (
    "+ping +info +scan +type +exists +dbsize +xlen +xrange +xrevrange +xpending +xinfo +memory|usage +time "
    "+command +role +client|setname +client|id +acl|whoami +cluster|shards +cluster|slots +cluster|info "
    "+multi +exec +asking +zcard +zcount +zrange +zmscore +hlen +hscan +hgetall +hmget"
)
# Scripts run with their caller's permissions: on 6.2, too, one cannot write what the user may not write.
_READS_6_2: Final = f"{_READS} +eval +evalsha"
_READS_FROM_7: Final = f"{_READS} +eval_ro +evalsha_ro +acl|dryrun"
_OPERATES: Final = "+@stream -xsetid +eval +evalsha +zadd +zrem +zscore +set +get +expire +persist +hset +hget +hdel +hincrby"
_WORKS: Final = (
    "+ping +time +client|setname +eval +xreadgroup +xack +xclaim +xpending +xrange +xrevrange +xadd +xdel "
    "+xgroup|create +xgroup|delconsumer +xinfo|stream +xinfo|groups +xinfo|consumers "
    "+zadd +zrem +zrange +zscore +zcard +hset +hget +hmget +hdel +hexists +hlen "
    "+set +get +del +exists +persist +pexpire"
)
# Publishers, of delayed messages and payloads too; topics of HTTP callbacks; supervisors and rosters of pools.
_PRODUCES: Final = "+evalsha +zmscore +unlink +hgetall +hscan"
# Without these: delayed messages are up to a second late; entries of thousands of fields cannot be given up.
_BETTER: Final = "+publish +subscribe +multi +exec"
_RUNS: Final = f"{_WORKS} {_PRODUCES} {_BETTER}"
# A stream and the keys beside it; and of streamops's own keys the heartbeats of workers and of their supervisors.
_WORKS_ON: Final = (
    f"&{STREAM} &{{{STREAM}}}:* ~{STREAM} ~{{{STREAM}}}:* "
    "~streamops:worker:* ~streamops:roster:* ~streamops:supervisors:*"
)
# Orders to pools, which workers read; Redis 6.2 knows no keys that may only be read.
_POOL_KEYS: Final = "streamops:pool:*"


class AclRole(StrEnum):
    """A way of using streamops."""

    OBSERVER = "observer"
    OPERATOR = "operator"
    RUNTIME = "runtime"


class AclRules(Struct, frozen=True):
    """The rules of a role.

    Attributes:
        role: The role.
        purpose: What it may do, in words.
        rules: For Redis 7.0 and later and for Valkey.
        rules_6_2: For Redis 6.2, which knows neither read-only keys nor read-only scripts.
    """

    role: AclRole
    purpose: str
    rules: str
    rules_6_2: str


_ALL_RULES: Final = {
    AclRole.OBSERVER: AclRules(
        AclRole.OBSERVER,
        "sees everything, changes nothing",
        f"resetchannels %R~* {_READS_FROM_7}",
        f"resetchannels ~* {_READS_6_2}",
    ),
    AclRole.OPERATOR: AclRules(
        AclRole.OPERATOR,
        "administers streams and groups. ~* may be narrowed to what it is responsible for: "
        "~orders* ~{orders}* are a stream and its derived keys, ~streamops:* the audit log, jobs and pools, which "
        "`streamops autoscale run` needs too",
        f"resetchannels ~* {_READS_FROM_7} {_OPERATES}",
        f"resetchannels ~* {_READS} {_OPERATES}",
    ),
    AclRole.RUNTIME: AclRules(
        AclRole.RUNTIME,
        f"consumes and produces, and may not write the audit log, topics, jobs and pool settings. Put a stream in place "
        f"of {STREAM}, and repeat these patterns for each: ~orders ~{{orders}}:* are a stream and its derived keys, for one "
        "with a hash tag ~{a}:orders ~{a}:orders:*; & is for its channels. Dead letters and delayed messages of other "
        "names, as a context states them, need ~NAME ~NAME:* too. `webhooks serve` needs %R~streamops:topics (6.2: "
        "~streamops:topics), `run --workers auto` ~streamops:pools where it is to list its pool. Without +publish "
        "+subscribe delayed messages are up to a second late, without +multi +exec entries of more than 3,891 fields stay "
        "pending instead of becoming dead letters. A worker refuses to start where anything else is missing that it needs. "
        "`streamops doctor --worker` checks whether a user may do too much",
        f"resetchannels {_WORKS_ON} %R~{_POOL_KEYS} {_RUNS}",
        f"resetchannels {_WORKS_ON} ~{_POOL_KEYS} {_RUNS}",
    ),
}


def acl_rules(role: AclRole) -> AclRules:
    """The rules of a role."""
    return _ALL_RULES[role]


def acl_text(rules: AclRules) -> str:
    """The commands that create such a user, with comments."""
    user = f"ACL SETUSER streamops-{rules.role} on >PASSWORD"
    lines = [f"# {rules.role}: {rules.purpose}. Put a password in place of PASSWORD."]
    if rules.rules == rules.rules_6_2:
        return "\n".join([*lines, f"{user} {rules.rules}"])
    return "\n".join(
        [
            *lines,
            "# Redis 7.0 and later, Valkey:",
            f"{user} {rules.rules}",
            "# Redis 6.2:",
            f"{user} {rules.rules_6_2}",
        ]
    )
