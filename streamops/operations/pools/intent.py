"""Pools of workers as what is acted on: paused and resumed."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument

Pool = Annotated[str, argument("The pool: the one of `streamops run --pool`, or default.", completes="pools")]


class PauseIntent(Struct, frozen=True, kw_only=True):
    """Have the workers of a pool read nothing more, for the time being."""

    pool: Pool


class ResumeIntent(Struct, frozen=True, kw_only=True):
    """Have them read again."""

    pool: Pool
