"""Pools of workers as what is acted on: paused and resumed."""

from datetime import datetime
from typing import Annotated

from msgspec import Struct

from streamops.model.acts.fields import argument

Pool = Annotated[str, argument("The pool: the one of `streamops run --pool`, or default.", completes="pools")]


class PauseIntent(Struct, frozen=True, kw_only=True):
    """Have the workers of a pool read nothing more, for the time being."""

    pool: Pool


class ResumeIntent(Struct, frozen=True, kw_only=True):
    """Have them read again."""

    pool: Pool


class PoolEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a pool.

    Attributes:
        mode: What it was told last; empty where nobody ever told it anything.
        updated_by: Who told it; empty where that is not known.
        updated_at: When; none where that is not known.
    """

    mode: str = ""
    updated_by: str = ""
    updated_at: datetime | None = None
