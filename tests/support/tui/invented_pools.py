"""Pools of the invented shop: one that grows, one that is stuck and steered, one whose controller is gone."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streamops.model.pools import (
    Applied,
    Lead,
    Order,
    Pool,
    PoolDecision,
    PoolOverrides,
    PoolSize,
    ScaleCode,
    Signals,
)
from tests.support.invented import NOW, minutes, seconds

if TYPE_CHECKING:
    from tests.support.tui.invented_beside import Beside

CONTROLLER = "scaler-1-4711-ab12"
LED = Lead(holder=CONTROLLER, until=NOW + seconds(12), term=3)
BUSY = Signals(
    lag=1_240, pending=128, arrivals=310.0, coming=342.0, rate=41.5, wait=7.4, predicted=19.2, objective=30.0,
    busy=0.97, start_up=6.2,
)  # fmt: skip


def decided(
    ago: float,
    code: ScaleCode,
    text: str,
    sizes: tuple[int, int, int],
    outcome: Applied = Applied.KEPT,
    **more: object,
) -> PoolDecision:
    """A decision some seconds ago: ``sizes`` are ordered, ready and target."""
    ordered, ready, target = sizes
    made = PoolDecision(
        at=NOW - seconds(ago), code=code, text=text, ordered=ordered, ready=ready, target=target, outcome=outcome,
        by=CONTROLLER,
    )  # fmt: skip
    return replace(made, **more)


GROWS = decided(
    4, ScaleCode.BACKLOG, "1,240 waiting, 19 s of wait ahead of 6 workers (limit 15 s): 6 to 9", (6, 6, 9), Applied.DONE,
    signals=BUSY,
    outlook=(
        "More from about 3,735 waiting on: 15 s of work for 9 workers.",
        "Fewer not within 60 s: the last change is too fresh.",
    ),
)  # fmt: skip
DECISIONS = {
    "billing": (
        GROWS,
        decided(64, ScaleCode.STEADY, "240/s coming in, 6 workers handle 249/s, 0 waiting", (6, 6, 6)),
        decided(
            190, ScaleCode.ARRIVALS, "240/s expected, 4 workers handle 166/s: 4 to 6", (4, 4, 6), Applied.FAILED,
            problem="deployment shop/billing: conflict",
        ),
        decided(3_900, ScaleCode.IDLE, "last 120 s simulated with 4 workers peak at 9 s of wait (limit 24 s): 6 to 4", (6, 6, 4), Applied.DONE),
    ),
    "mail": (
        decided(
            2, ScaleCode.STUCK, "40 pending, the oldest for 95 s, none acknowledged for 60 s: more workers would not help",
            (3, 3, 3), signals=Signals(at_least=7, pending=40, objective=30.0), outlook=("One acknowledged entry; then the policy continues.",),
        ),
    ),
    "night": (decided(86_400, ScaleCode.STEADY, "nothing to do", (1, 1, 1)),),
}  # fmt: skip


def pools() -> tuple[Pool, ...]:
    """They, by name."""
    return (
        Pool(
            name="billing", stream="orders", group="billing", target="deployment shop/billing", minimum=2, maximum=12,
            lead=LED, last=GROWS, order=None, decisions={("up", "backlog"): 2}, errors=1,
        ),
        Pool(name="by hand", order=Order(workers=2, by="ada@bastion-1", at=NOW - minutes(9), reason="lunch")),
        Pool(
            name="mail", stream="emails", group="mailer", target="streamops run --pool mail --workers auto",
            minimum=1, maximum=4, lead=LED, last=DECISIONS["mail"][0],
            steering=PoolOverrides(override=3, until=NOW + minutes(40), by="ada@bastion-1", at=NOW - minutes(20)),
            mode="paused", updated_by="ada@bastion-1", updated_at=NOW - minutes(12),
        ),
        Pool(
            name="night", stream="orders", group="reports", target="command scale-fleet", minimum=0,
            maximum=3, lead=Lead(holder=CONTROLLER, until=NOW - minutes(30), term=1), last=DECISIONS["night"][0],
        ),
    )  # fmt: skip


class InventedPools:
    """Reads pools."""

    def __init__(self, beside: "Beside") -> None:
        self._beside = beside

    async def all(self, names: Iterable[str] = ()) -> list[Pool]:
        assert not tuple(names)
        self._beside.ask("pools")
        return list(self._beside.pools)

    async def one(self, name: str) -> Pool:
        self._beside.ask("pool", name)
        return next((pool for pool in self._beside.pools if pool.name == name), Pool(name=name))

    async def with_sizes(
        self, pools: Sequence[Pool], now: datetime | None
    ) -> list[tuple[Pool, PoolSize | None]]:
        assert now
        return [(pool, None) for pool in pools]

    async def decisions(self, name: str, count: int = 20) -> list[PoolDecision]:
        self._beside.ask("decisions", name, count)
        return list(DECISIONS.get(name, ()))[:count]

    async def clock(self) -> datetime | None:
        return NOW
