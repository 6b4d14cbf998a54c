"""Workers that a program of the user's counts and sets: ``kubectl``, ``docker``, ``systemctl``, or a script."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from streamops.analysis.safe_text import safe
from streamops.errors import ExitCode, TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.targets.programs import Ran, run
from streamops.targets.specs import CommandSpec
from streamops.targets.telling import MOST_BYTES, changed, decode_size, one_line, require_expected

CHANGED: Final = ExitCode.DRIFTED
"""The exit status by which ``set`` says that the number is not ``{current}`` any more, and that it did nothing."""

PLACES: Final = ("pool", "current", "desired", "reason", "key")
"""What arguments may hold in braces. Other braces stay as they are."""

_PLACE: Final = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
_BY_HAND: Final = "Run it by hand to see what it prints."


class CommandTarget:
    """Two programs: ``get`` prints a number, or ``{"ordered": 3, "ready": 2}``; ``set`` asks for another one."""

    kind: str = "command"

    def __init__(self, pool: str, spec: CommandSpec) -> None:
        # Arguments are not shown: people write passwords into them.
        self.label = f"command {safe(spec.set[0])}"
        self._pool = pool
        self._spec = spec

    async def read(self) -> PoolSize:
        """As ``Target.read``."""
        ran = await self._run(self._spec.get, {"pool": self._pool}, "get")
        if ran.status:
            raise self._failure("get", ran)
        if len(ran.output) > MOST_BYTES:
            raise TargetError(f"{self.label}: get printed far more than a number", _BY_HAND)
        try:
            return decode_size(ran.output)
        except ValueError as error:
            raise TargetError(f"{self.label}: get printed {error}", _BY_HAND) from None

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:
        """As ``Target.resize``; between looking and setting, only the program itself can notice a change."""
        require_expected(self.label, await self.read(), expected)
        values = {
            "pool": self._pool,
            "current": str(expected.ordered),
            "desired": str(workers),
            "reason": safe(reason),
            "key": key,
        }
        ran = await self._run(self._spec.set, values, "set")
        if ran.status == CHANGED:
            raise changed(self.label, "set says that it was changed meanwhile")
        if ran.status:
            raise await self._refusal(self._failure("set", ran), expected)

    async def close(self) -> None:
        """As ``Target.close``; nothing is held."""

    async def _run(self, command: Sequence[str], values: Mapping[str, str], which: str) -> Ran:
        args = [_PLACE.sub(lambda found: values.get(found[1], found[0]), arg) for arg in command]
        limit = self._spec.timeout
        try:
            return await run(args, {name: value.reveal() for name, value in self._spec.env.items()}, limit)
        except TimeoutError:
            unsure = "; whether it was done is not known" if which == "set" else ""
            problem = f"{which} took more than {limit.total_seconds():g} s, and was ended{unsure}"
            hint = "Run it by hand; it must not ask for anything."
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "an argument that no program can have"
            problem, hint = f"{which} cannot be started: {why}", "Check that it is installed."
        raise TargetError(f"{self.label}: {problem}", hint, retryable=True)

    async def _refusal(self, failure: TargetError, expected: PoolSize) -> TargetError:
        """Why ``set`` failed: not by its words, but by what is there now; ``kubectl`` says all with status 1."""
        try:
            require_expected(self.label, await self.read(), expected)
        except TargetChanged as error:
            return error
        except TargetError:
            # It cannot be told: what ``set`` said comes first.
            return failure
        return failure

    def _failure(self, which: str, ran: Ran) -> TargetError:
        ended = f"status {ran.status}" if ran.status > 0 else f"signal {-ran.status}"
        secrets = [value.reveal() for value in self._spec.env.values()]
        said = one_line(ran.errors.decode(errors="replace"), secrets)
        return TargetError(
            f"{self.label}: {which} ended with {ended}{': ' if said else ''}{said}",
            "Run it by hand to see why.",
            retryable=True,
        )
