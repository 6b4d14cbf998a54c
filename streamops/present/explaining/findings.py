"""Every finding explained: what it means, how it comes about, what to look at, and what mends it."""

from typing import Final, NamedTuple

from msgspec import Struct

from streamops.model.observation import FindingCode


class Remedy(NamedTuple):
    """Something that mends a finding.

    Attributes:
        operation: The operation, as ``streamops`` calls it; empty for something that is done elsewhere.
        words: When it helps.
    """

    operation: str
    words: str


class Explanation(Struct, frozen=True):
    """What a finding means.

    Attributes:
        means: What is the case.
        comes: Cause.
        look: What to look at, most likely first.
        mend: Fix.
    """

    means: str
    comes: str
    look: tuple[str, ...]
    mend: tuple[Remedy, ...]


FINDINGS: Final[dict[FindingCode, Explanation]] = {
    FindingCode.NO_CONSUMERS: Explanation(
        "Entries wait for a group that has no consumer at all: nobody will read them.",
        "The workers were never started, or all of their consumers were removed; or the group is left over from a "
        "service that is gone, and then it only keeps entries from being trimmed.",
        (
            "whether the service that the group belongs to should run: the group's name usually tells which",
            "ADDED: how fast the backlog grows while nobody reads",
        ),
        (
            Remedy("", "Start the workers; a consumer appears with its first read (XREADGROUP)."),
            Remedy("groups.destroy", "Nobody needs the group any more; what it has pending goes with it."),
        ),
    ),
    FindingCode.STALLED: Explanation(
        "Consumers hold pending entries, and acknowledge none.",
        "A handler hangs (a lock, a database, a call without a timeout); or it does its work and never reaches XACK; "
        "or one entry blocks a consumer that works in order.",
        (
            "the pending entries (Enter, then l): one owner or all, the same idle time or spread",
            "the logs of the consumer that holds the oldest entry",
            "DELIVERED beside ACKED: are entries still being delivered",
        ),
        (
            Remedy("", "Restart the hanging worker: what it held stays pending, and is taken over."),
            Remedy("claim", "Claim its entries for a consumer that works."),
            Remedy("ack", "The work was done, and only XACK is missing."),
        ),
    ),
    FindingCode.STOPPED: Explanation(
        "Entries wait, and none has been delivered for too long: the consumers do not read.",
        "The workers are down while their consumers are still known to the server, are cut off from it, block on "
        "something else, or read another stream or group than one thinks.",
        (
            "IDLE and INACTIVE of the consumers (Enter): when they last asked, and when they last got something",
            "whether worker processes run at all (:workers)",
            "the server's CLIENT LIST: blocked readers show as xreadgroup",
        ),
        (
            Remedy("", "Start the workers, or fix what keeps them from the server."),
            Remedy("claim", "Claim what a dead consumer holds for one that runs."),
        ),
    ),
    FindingCode.LAG_GROWING: Explanation(
        "More is added than delivered to the group, steadily: it falls behind.",
        "Arrivals rose, handling became slower, or some of the workers are gone.",
        (
            "ADDED against ACKED: the difference is what is missing",
            "LAG AGE: how late it is already",
            "PENDING beside the number of consumers: are all of them busy",
        ),
        (
            Remedy("", "Run more workers, or make handling faster."),
            Remedy("trim", "Last resort, where old entries are worthless: what is not delivered is lost."),
        ),
    ),
    FindingCode.BEHIND: Explanation(
        "The next entry of the group has waited for too long, though entries are delivered and the lag does not grow.",
        "A burst, or a time without workers, is being worked off; or the group was made at the beginning of an old "
        "stream, and reads history.",
        (
            "TREND and DELIVERED: how long catching up will take",
            "LAG AGE: whether it falls from minute to minute",
        ),
        (
            Remedy("", "Wait, or run more workers until it has caught up."),
            Remedy(
                "groups.rewind",
                "History does not matter: set the position to the end ($); the plan says what is skipped.",
            ),
        ),
    ),
    FindingCode.DEAD_CONSUMER: Explanation(
        "A consumer holds entries and has not been seen for too long. Redis cannot tell a dead one from one that works "
        "or blocks, so this is a suspicion; of workers with a heartbeat it is certain.",
        "A worker was killed, its machine went, or it was renamed by a deployment; its entries stay with it for ever "
        "unless somebody claims them.",
        (
            "IDLE and INACTIVE of that consumer, and how much it holds (Enter)",
            "whether a process of that name still runs",
            "IDLE of its entries: longer than any handler takes",
        ),
        (
            Remedy(
                "claim", "Claim its entries for a consumer that runs; the plan says which are still young."
            ),
            Remedy("consumers.rm", "It is gone for good and holds nothing more."),
        ),
    ),
    FindingCode.POISON: Explanation(
        "One entry is delivered again and again and never acknowledged.",
        "Its content breaks the handler, or takes the worker down with it; everything else goes on beside it.",
        (
            "its payload (Enter on it), and the error in the logs of its owner",
            "TRIES: history reads and claims count too, so it may be fewer attempts than it says",
        ),
        (
            Remedy("", "Fix the handler: the entry is tried again by itself."),
            Remedy(
                "ack", "Give it up: it is not delivered again, and stays in the stream until it is trimmed."
            ),
            Remedy("streams.rm-entry", "No consumer may read it again; a backup is written first."),
        ),
    ),
    FindingCode.PENDING_OLD: Explanation(
        "An entry has been with consumers for too long, neither acknowledged nor given back.",
        "Its handler takes long, waits for something, or dropped it: an exception after reading and before XACK.",
        (
            "how often it was delivered, and when last (Enter, then l)",
            "whether its owner acknowledges other entries",
        ),
        (
            Remedy("claim", "Its owner does not work on it: claim it for another."),
            Remedy("nack", "Give it back to the group at once."),
            Remedy("ack", "The work was done."),
        ),
    ),
    FindingCode.DANGLING_PENDING: Explanation(
        "Entries are still pending in the group, but gone from the stream: a consumer that claims them gets nothing.",
        "The stream was trimmed (MAXLEN, MINID, XTRIM) past entries that were delivered and not acknowledged. What a "
        "consumer still has in its hands it may finish; what it dropped is lost.",
        (
            "the audit log (@): whether it was trimmed from here, and where its backup is",
            "who trims: XADD with MAXLEN in the producers, a cron job, a policy",
        ),
        (
            Remedy("restore", "A backup of them was written: add them to the stream again."),
            Remedy("ack", "Acknowledge the rows that are left."),
            Remedy("trim", "Trim safely from now on: what is pending is spared."),
        ),
    ),
    FindingCode.STREAMS_GONE: Explanation(
        "Streams that were here are gone, and their groups with them.",
        "The server started without its data (no dump file, an empty volume), another one answers in its place, or the "
        "database was flushed. Producers may add to streams of the same names by now, and groups begin at their start.",
        (
            "whether the server is the one it should be, and since when it runs (INFO)",
            "whether a replica, a dump or an append-only file still has the data",
        ),
        (
            Remedy("", "Stop the producers, and bring the data back before anything is written beside it."),
            Remedy("restore", "Entries were exported or backed up: add them to the stream again."),
        ),
    ),
    FindingCode.REWOUND: Explanation(
        "The group's position moved back, so that entries it already had are delivered again.",
        "Somebody set it (XGROUP SETID), or destroyed the group and made it anew; a restore from an old backup, or a "
        "failover to a replica that was behind, does the same.",
        (
            "the audit log (@): whether it was done from here, by whom and why",
            "whether the handlers can see entries twice",
        ),
        (
            Remedy("undo", "It was done from here and not meant: undo it in the audit log (@, z)."),
            Remedy("groups.rewind", "Set the position forward again; the plan says what is skipped."),
        ),
    ),
    FindingCode.LOST: Explanation(
        "Entries were trimmed before they were delivered to the group. They are lost.",
        "The stream is kept short (MAXLEN, MINID, XTRIM) and the group was further behind than that.",
        (
            "LENGTH and LAG: how near it still is to the edge",
            "who trims: XADD with MAXLEN in the producers, a cron job, a policy",
        ),
        (
            Remedy("", "Raise MAXLEN where entries are added, or make the group faster."),
            Remedy("trim", "Trim from here instead: it spares what any group still needs."),
        ),
    ),
    FindingCode.RETENTION_EDGE: Explanation(
        "The stream is being trimmed while the group has nearly all of it still to read: it is about to lose entries.",
        "The group is slow or stopped, and retention is shorter than its backlog.",
        (
            "LAG against LENGTH",
            "ADDED: how long until the oldest entry that waits is trimmed",
        ),
        (
            Remedy("", "Raise MAXLEN where entries are added, at once; then make the group faster."),
            Remedy("trim", "Trim from here instead: it spares what any group still needs."),
        ),
    ),
    FindingCode.DEAD_LETTERS: Explanation(
        "Entries were given up and are in a dead-letter queue.",
        "They used up their attempts, were rejected at once, or took workers down; critical while more come.",
        (
            "their reasons (4, or Enter): one cause or many",
            "the newest of them: is it still happening",
        ),
        (
            Remedy(
                "replay", "The cause is fixed: send them where they came from, filtered and rate-limited."
            ),
            Remedy("dlq.purge", "They are worthless; a backup is written first."),
        ),
    ),
    FindingCode.DELAYED_OVERDUE: Explanation(
        "Delayed messages are due, and nothing moves them to their stream: retries and reminders do not happen.",
        "Workers move what is due. None runs for this stream, or none can write to the queue.",
        (
            "the queues and by how much they are overdue: streamops delayed ls",
            "the workers (w): whether one reads this stream",
        ),
        (
            Remedy("", "Start a worker of the application."),
            Remedy(
                "delayed.run-now", "No worker can run: move what is due by hand, or every minute by a timer."
            ),
        ),
    ),
    FindingCode.DELAYED_FOREIGN: Explanation(
        "The sorted set that is the stream's delayed queue has members that streamops did not write.",
        "The configuration maps another program's set as a delayed queue, or another program writes to ours.",
        (
            "which members, and why they are no messages: streamops delayed ls STREAM",
            "`delayed` of the context and of Streamops: which set they name",
        ),
        (Remedy("", "Give streamops a sorted set of its own. Foreign members are never removed or moved."),),
    ),
    FindingCode.EVICTION_RISK: Explanation(
        "The server may delete whole streams when memory is short: its maxmemory-policy evicts keys.",
        "A server set up as a cache is used for streams. Eviction is silent: the stream and its groups are just gone.",
        (
            "CONFIG GET maxmemory-policy, and INFO memory: how near it is",
            "evicted_keys of INFO stats: whether it has happened",
        ),
        (Remedy("", "Set maxmemory-policy to noeviction, or move the streams to a server of their own."),),
    ),
    FindingCode.OOM: Explanation(
        "Memory is nearly full and the policy refuses writes: producers will get errors, and so will what retries, "
        "gives up or audits.",
        "Streams that nobody trims, payloads that are large, or other data on the same server.",
        (
            "LENGTH and ENTRY of the streams (2), the longest first",
            "streamops streams memory: what each takes",
        ),
        (
            Remedy("trim", "Make room: it spares what any group still needs."),
            Remedy("", "Raise maxmemory."),
        ),
    ),
}
