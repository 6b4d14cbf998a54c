"""Draws from a generator that the caller made and seeded."""

from math import cos, exp, floor, lgamma, log, pi, sqrt
from typing import Protocol

FEW = 10
"""Poisson means below this are drawn by multiplying, those above by rejection."""


class Chance(Protocol):
    """A seeded generator of uniform numbers, such as ``random.Random``."""

    def random(self) -> float:
        """The next number, from 0 up to but not including 1."""


def uniform(chance: Chance, low: float, high: float) -> float:
    """A number between the two."""
    return low + (high - low) * chance.random()


def normal(chance: Chance, mean: float = 0.0, deviation: float = 1.0) -> float:
    """A normal draw, by Box and Muller's transform."""
    radius = sqrt(-2 * log(1 - chance.random()))
    return mean + deviation * radius * cos(2 * pi * chance.random())


def binomial(chance: Chance, trials: int, share: float) -> int:
    """How many of some trials succeed."""
    return sum(chance.random() < share for _ in range(trials))


def poisson(chance: Chance, mean: float) -> int:
    """A Poisson draw."""
    return _multiplied(chance, mean) if mean < FEW else _rejected(chance, mean)


def _multiplied(chance: Chance, mean: float) -> int:
    count, product, least = 0, chance.random(), exp(-mean)
    while product > least:
        count, product = count + 1, product * chance.random()
    return count


def _rejected(chance: Chance, mean: float) -> int:
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
