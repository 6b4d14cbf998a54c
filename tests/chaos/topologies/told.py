"""What Sentinels tell of their primary, and a primary of its replicas."""

from tests.support.servers import RunningServer


def could_replace(sentinel: RunningServer, service: str, others: int) -> bool:
    """Whether a Sentinel could have its primary replaced: it has heard of the others, and of a replica that is well.

    Of one that came back it hears some ten seconds later.

    Args:
        sentinel: The Sentinel.
        service: What its primary goes by.
        others: How many other Sentinels there are.
    """
    told = _pairs(sentinel.command("SENTINEL", "MASTER", service))
    rows = [_pairs(row) for row in sentinel.command("SENTINEL", "REPLICAS", service)]
    well = [
        row
        for row in rows
        if row[b"flags"] == b"slave"
        and row[b"master-link-status"] == b"ok"
        and row[b"master-port"] == told[b"port"]
        and int(row[b"slave-repl-offset"]) > 0
    ]
    return told[b"flags"] == b"master" and int(told[b"num-other-sentinels"]) == others and bool(well)


def good_replicas(primary: RunningServer) -> int:
    """How many replicas count as being there."""
    told: bytes = primary.command("INFO", "replication")
    rows = dict(line.split(b":", 1) for line in told.splitlines() if b":" in line)
    return int(rows[b"min_slaves_good_slaves"])


def _pairs(flat: list[bytes]) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))
