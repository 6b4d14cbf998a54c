"""Pools of workers as a server knows them, written down as controllers, supervisors and people write them."""

import json
from typing import Any, Final

from tests.support.servers import RunningServer

NEVER: Final = 4_102_444_800_000
"""2100-01-01: no lease of a test ends before it."""
LONG_AGO: Final = 1_772_323_200_000
"""2026-03-01, as all instants that are made up."""

SIGNALS: Final = {
    "lag": 300,
    "pending": 40,
    "arrivals": 110.5,
    "coming": 121.0,
    "rate": 36.25,
    "wait": 4.1,
    "predicted": 8.3,
    "objective": 10.0,
    "busy": 0.98,
    "start_up": 3.2,
    "cap": 12,
}
OUTLOOK: Final = ("More than 12 workers is tried again in 40 s: they did not help before.",)
BACKLOG: Final = "300 waiting, 8 s of wait ahead of 2 workers (limit 10 s): 2 to 4"


def decision(code: str, text: str, sizes: tuple[int, int, int], **more: Any) -> dict[str, Any]:
    """A decision as a controller writes it down: ``sizes`` are ordered, ready and target."""
    ordered, ready, target = sizes
    return {
        "at": "2026-03-01T00:00:00Z",
        "code": code,
        "text": text,
        "ordered": ordered,
        "ready": ready,
        "target": target,
        "by": "web-1-17-ab12",
        **more,
    }


UP: Final = decision("backlog", BACKLOG, (2, 2, 4), outcome="done", signals=SIGNALS, outlook=OUTLOOK)
FAILED: Final = decision(
    "stuck",
    "40 pending, the oldest for 90 s, and none acknowledged: \x1b]0;x\x07 held at 3",
    (3, 3, 4),
    outcome="failed",
    problem="deployment shop/mail: refused",
    signals={"at_least": 7, "pending": 40},
)
UNREAD: Final = decision(
    "unreadable",
    "no group mail of stream dead letters: nothing is changed",
    (1, 0, 1),
    problem="no group mail",
)


def write_pool(server: RunningServer, name: str, last: dict[str, Any] | None = None, **told: object) -> None:
    """A pool as its controller leaves it, with more fields or others."""
    fields: dict[str, object] = dict(told)
    if last is not None:
        fields = {
            "leader": "web-1-17-ab12",
            "leader_until": NEVER,
            "term": 3,
            "stream": "orders",
            "group": name,
            "target": f"deployment shop/{name}",
            "min": 1,
            "max": 12,
            "decision": json.dumps(last),
            "n:up:backlog": 2,
            "n:hold:steady": 700,
            **fields,
        }
        server.command("HSET", "streamops:pools", name, "controller")
        entry = ("XADD", f"streamops:decisions:{name}", "*", "decision", json.dumps(last))
        server.command(*entry)
    server.command("HSET", f"streamops:pool:{name}", *(str(part) for pair in fields.items() for part in pair))


def write_pools(server: RunningServer) -> None:
    """One that grows, one whose target fails, one without a group, one whose controller is gone, one steered by hand."""
    write_pool(server, "billing", UP, desired=4, desired_by="root@web-1:17", desired_reason=BACKLOG)
    write_pool(server, "mail", FAILED, errors=3)
    write_pool(server, "letters", UNREAD)
    write_pool(server, "old", decision("steady", "all is well", (5, 5, 5)), leader_until=LONG_AGO)
    write_pool(
        server,
        "by hand",
        desired=2,
        desired_by="ada@desk:1",
        desired_reason="lunch",
        desired_at=LONG_AGO,
        scaling="paused",
        steered_by="ada@desk:1",
        limit_max=3,
    )
    server.command("HSET", "streamops:pools", "by hand", "supervisors")
