"""The options that every acting command has: consent, a dry run, limits, a reason."""

from typing import Any, Final

import click
from msgspec import Struct

from streamops.cli.params import RATE
from streamops.model.acting import Confirmation, Limits

_PREFIX: Final = "acting_"


class Choices(Struct, frozen=True):
    """What was said about how to act, besides what to do.

    Attributes:
        confirmation: Consent given beforehand: ``--yes``, ``--confirm``.
        dry_run: Whether only the plan is shown.
        limits: What the plan is held to.
    """

    confirmation: Confirmation
    dry_run: bool
    limits: Limits


def _option(*names: str, name: str, **attributes: Any) -> click.Option:
    # An intent may have a field of the same name: ours are told apart by a prefix.
    return click.Option([*names, _PREFIX + name], **attributes)


ACTING_OPTIONS: Final = (
    _option("--yes", "-y", name="yes", is_flag=True, help="Apply without asking."),
    _option("--dry-run", name="dry_run", is_flag=True, help="Show the plan and change nothing."),
    _option(
        "--confirm",
        name="confirm",
        metavar="NAME",
        default="",
        help="Confirm an irreversible action by typing its target's name.",
    ),
    _option(
        "--expect",
        name="expect",
        metavar="N",
        type=click.IntRange(min=0),
        help="Refuse unless the plan counts exactly N.",
    ),
    _option(
        "--plan",
        name="fingerprint",
        metavar="FINGERPRINT",
        default="",
        help="Refuse unless the plan is the one that --dry-run -o json showed.",
    ),
    _option(
        "--max",
        name="max_count",
        metavar="N",
        type=click.IntRange(min=0),
        help="Refuse where the plan counts more than N; 1,000,000 unless given.",
    ),
    _option("--reason", name="reason", metavar="TEXT", default="", help="Note for the audit log."),
    _option(
        "--unaudited", name="unaudited", is_flag=True, help="Act even where the audit log cannot be written."
    ),
)
RATE_OPTION: Final = _option(
    "--rate", name="rate", metavar="N/s", type=RATE, help="Go no faster than this: 500/s, 30/m."
)


def take_choices(values: dict[str, Any]) -> Choices:
    """Take our options out of all that click read."""
    own = {name: values.pop(name) for name in list(values) if name.startswith(_PREFIX)}
    given = {name.removeprefix(_PREFIX): value for name, value in own.items()}
    return Choices(
        Confirmation(given["yes"], given["confirm"]),
        given["dry_run"],
        Limits(
            expect=given["expect"],
            fingerprint=given["fingerprint"],
            max_count=given["max_count"],
            reason=given["reason"],
            unaudited=given["unaudited"],
            rate=given.get("rate"),
        ),
    )
