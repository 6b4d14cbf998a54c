"""How long handlers take: what of it decides how much a worker handles in a second."""

from math import expm1, isfinite, sqrt

from msgspec import Struct


class Handling(Struct, frozen=True):
    """The times of a handler, by their first two moments. ``ValueError`` where those are not finite or make no sense.

    Attributes:
        mean: Their mean, in seconds.
        deviation: Their standard deviation, in seconds.
        kind: What they are, in a word or two.
    """

    mean: float
    deviation: float
    kind: str

    def __post_init__(self) -> None:
        if not (self.mean > 0 and isfinite(self.mean)):
            raise ValueError("the mean of handler times must be finite, and longer than zero")
        if not (self.deviation >= 0 and isfinite(self.deviation)):
            raise ValueError(
                "the variance of handler times must be finite: without one, no throughput settles"
            )

    def rate(self, slots: int) -> float:
        """Entries a second that so many slots handle."""
        return slots / self.mean

    def spread(self, slots: int) -> float:
        """Standard deviation of what they handle in a second, by the central limit theorem for renewals.

        Each slot counts renewals, whose variance grows by the variance of one over the cube of its mean (Feller II,
        XI.6). It holds over many handlings, and whatever tail the times have as long as their variance is finite.
        """
        return sqrt(slots * self.deviation**2 / self.mean**3)


def between(fastest: float, slowest: float) -> Handling:
    """Uniform times."""
    return Handling((fastest + slowest) / 2, (slowest - fastest) / sqrt(12), "uniform")


def lognormal(mean: float, sigma: float) -> Handling:
    """Times whose logarithm is normal with this standard deviation; from about 1 on, few take most of the time."""
    return Handling(mean, mean * sqrt(expm1(sigma**2)), "lognormal")


def pareto(mean: float, tail: float) -> Handling:
    """Times of which the share longer than ``t`` falls like a power of ``t``; ``ValueError`` up to a power of 2."""
    if not tail > 2:
        raise ValueError("a Pareto tail of 2 or less has no finite variance")
    return Handling(mean, mean / sqrt(tail * (tail - 2)), "pareto")
