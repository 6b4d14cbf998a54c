"""The options that every acting command has: consent, a dry run, limits, a reason."""

import sys
from typing import Any, Final

import click
from msgspec import Struct

from streamops.cli.params import RATE
from streamops.cli.session import Session
from streamops.cli.terminal import drawable
from streamops.model.acting import Confirmation, Limits
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy
from streamops.resources.text import safe

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
    _option(
        "--yes",
        "-y",
        name="yes",
        is_flag=True,
        help="Apply without asking; a command that asks needs it where there is no terminal.",
    ),
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
        help="Refuse if the plan counts more than N.  [default: 1000000]",
    ),
    _option("--reason", name="reason", metavar="TEXT", default="", help="Note for the audit log."),
    _option(
        "--unaudited", name="unaudited", is_flag=True, help="Act even where the audit log cannot be written."
    ),
)
RATE_OPTION: Final = _option("--rate", name="rate", metavar="N/s", type=RATE, help="Rate limit: 500/s, 30/m.")


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


YES = frozenset({"y", "yes"})


def can_ask(session: Session) -> bool:
    """Whether somebody is there to answer: stdin and stderr are terminals, and --no-input is not given."""
    return not session.given.no_input and sys.stdin.isatty() and sys.stderr.isatty()


def ask(policy: ConfirmationPolicy) -> Confirmation:
    """Ask, and say what was answered; nothing at all is no."""
    if policy.kind is not ConfirmationKind.TYPED:
        return Confirmation(yes=_answer("Apply? [y/N] ").lower() in YES)
    word = safe(policy.word)
    answer = _answer(f"Type {word} to apply: ")
    # What a keyboard does not have is typed as it is shown.
    return Confirmation(typed=policy.word if answer in {word, policy.word} else answer)


def _answer(question: str) -> str:
    sys.stderr.write(drawable(question, sys.stderr))
    sys.stderr.flush()
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        raise
    if not line.endswith("\n"):
        sys.stderr.write("\n")
    return line.strip()
