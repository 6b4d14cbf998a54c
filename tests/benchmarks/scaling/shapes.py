"""The fourteen load shapes."""

from collections.abc import Callable
from math import exp, floor, inf, lgamma, log, pi, sin, sqrt
from random import Random

from msgspec import Struct

from streamops.autoscaling.simulation import normal

FEW = 10
"""Poisson means below this are drawn by multiplying, those above by rejection."""

PERSISTENCE = 0.97
"""How much of one second's noise is left in the next."""


def _level(_second: int) -> float:
    return 1.0


def _none(_second: int) -> int:
    return 0


def _unbounded(_second: int) -> float:
    return inf


def _never(_second: int) -> bool:
    return False


class Shape(Struct, frozen=True, kw_only=True):
    """A load, and what goes wrong under it. Every function takes the second of the run.

    Attributes:
        name: What it is called.
        seconds: How long it lasts.
        rate: Entries a second, the mean of a Poisson draw.
        batch: Entries added besides, all at once.
        speed: How fast handlers are; 1 is normal, 0 stands still.
        downstream: Entries a second that what lies behind the handlers takes at most.
        unknown: Whether the lag is unknown.
        start_up: Seconds from ordering a worker to its first entry, give or take a fifth.
        crash: The chance of each worker to die, a second.
        zombies: Workers that hold their slots and handle nothing.
        noise: Standard deviation of a slow noise on the logarithm of the rate.
    """

    name: str
    seconds: int
    rate: Callable[[int], float]
    batch: Callable[[int], int] = _none
    speed: Callable[[int], float] = _level
    downstream: Callable[[int], float] = _unbounded
    unknown: Callable[[int], bool] = _never
    start_up: float = 20.0
    crash: float = 0.0
    zombies: Callable[[int], int] = _none
    noise: float = 0.0


def within(second: int, *spans: tuple[int, int]) -> bool:
    """Whether the second lies in one of the spans; their ends do not belong to them."""
    return any(begin <= second < end for begin, end in spans)


def slope(second: int, begin: int, end: int, low: float, high: float) -> float:
    """A line from one value to another between two seconds, level outside."""
    return low + (high - low) * min(1.0, max(0.0, (second - begin) / (end - begin)))


SHAPES = (
    Shape(name="step", seconds=3600, rate=lambda t: 200 if t < 600 else 1200),
    Shape(name="ramp", seconds=3600, rate=lambda t: slope(t, 300, 2400, 100, 1800)),
    Shape(
        name="burst50k",
        seconds=2400,
        rate=lambda _: 50,
        batch=lambda t: 5000 if within(t, (600, 610)) else 0,
    ),
    Shape(name="diurnal", seconds=7200, rate=lambda t: 600 + 500 * sin(2 * pi * t / 3600)),
    Shape(name="sawtooth", seconds=3600, rate=lambda _: 50, batch=lambda t: 6000 if t % 60 == 30 else 0),
    Shape(name="sawtooth2", seconds=3600, rate=lambda _: 50, batch=lambda t: 9000 if t % 60 == 30 else 0),
    Shape(name="on_off", seconds=3600, rate=lambda t: 1000 if (t // 300) % 2 else 20),
    Shape(name="noisy", seconds=3600, rate=lambda _: 500, noise=0.35),
    Shape(
        name="lossy",
        seconds=3600,
        rate=lambda _: 700,
        crash=1 / 400,
        zombies=lambda t: int(within(t, (900, 2100))),
    ),
    Shape(
        name="poison",
        seconds=3600,
        rate=lambda _: 500,
        speed=lambda t: 0.0 if within(t, (900, 1500)) else 1.0,
    ),
    Shape(
        name="downstream",
        seconds=3600,
        rate=lambda t: 1500 if within(t, (600, 1800)) else 300,
        downstream=lambda _: 800.0,
    ),
    Shape(
        name="slowstart",
        seconds=3600,
        rate=lambda t: 200 if t < 600 else 1200,
        start_up=120.0,
    ),
    Shape(
        name="lag_nil",
        seconds=3600,
        rate=lambda t: 200 if t < 600 else 1000,
        unknown=lambda t: within(t, (500, 720), (1500, 2100), (2700, 2760)),
    ),
    Shape(
        name="slowdown",
        seconds=3600,
        rate=lambda _: 600,
        speed=lambda t: 1.0 if t < 1200 else 0.55,
    ),
)


def arrivals(shape: Shape, chance: Random) -> tuple[int, ...]:
    """How many entries are added in each second of a shape."""
    drift, counts = 0.0, []
    for second in range(shape.seconds):
        rate = shape.rate(second)
        if shape.noise:
            step = shape.noise * sqrt(1 - PERSISTENCE**2) * normal(chance)
            drift = PERSISTENCE * drift + step
            rate *= exp(drift - shape.noise**2 / 2)
        counts.append(poisson(chance, rate) + shape.batch(second))
    return tuple(counts)


def binomial(chance: Random, trials: int, share: float) -> int:
    """How many of some trials succeed."""
    return sum(chance.random() < share for _ in range(trials))


def poisson(chance: Random, mean: float) -> int:
    """A Poisson draw."""
    return _multiplied(chance, mean) if mean < FEW else _rejected(chance, mean)


def _multiplied(chance: Random, mean: float) -> int:
    count, product, least = 0, chance.random(), exp(-mean)
    while product > least:
        count, product = count + 1, product * chance.random()
    return count


def _rejected(chance: Random, mean: float) -> int:
    """Hörmann's transformed rejection with squeeze, PTRS (Insurance: Mathematics and Economics 12, 1993)."""
    b = 0.931 + 2.53 * sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = chance.random() - 0.5, 1 - chance.random()
        us = 0.5 - abs(u)
        if us <= 0:
            continue
        count = floor((2 * a / us + b) * u + mean + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return count
        if count < 0 or (us < 0.013 and v > us):
            continue
        squeeze = log(v * inverse / (a / (us * us) + b))
        if squeeze <= count * log(mean) - mean - lgamma(count + 1):
            return count
