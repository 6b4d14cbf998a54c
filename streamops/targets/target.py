"""What every target can do: tell how many workers there are, and be asked for another number."""

from typing import Protocol

from streamops.model.pools import PoolSize


class Target(Protocol):
    """Whatever runs the workers of one pool.

    Attributes:
        kind: The word for it in the configuration: ``local``, ``kubernetes``, ``command``.
        label: What it is, for people: ``deployment shop/billing``. Without a secret.
    """

    kind: str
    label: str

    async def read(self) -> PoolSize:
        """How many workers there are, and are asked for.

        Raises:
            TargetError: It cannot be told, or what was told makes no sense.
        """

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:
        """Ask for a number of workers, unless it is no longer as it was read.

        Args:
            workers: How many.
            expected: What was read when this was decided.
            reason: Why, in a sentence, for whoever logs it.
            key: The same for the same decision, however often it is sent.

        Raises:
            TargetChanged: It is not as expected any more; read it anew and decide anew.
            TargetError: It refuses, fails, or cannot be reached. Whether it was done may then not be known.
        """

    async def close(self) -> None:
        """Let go of connections."""
