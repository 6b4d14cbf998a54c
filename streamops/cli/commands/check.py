"""``streamops check``: one line and an exit code, for probes."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import click
from msgspec.structs import replace

from streamops.cli.failures import UNKNOWN
from streamops.cli.formats import document_text
from streamops.cli.globals import Output
from streamops.cli.options import command
from streamops.cli.params import Patterns
from streamops.cli.printer import DOCUMENTS, write
from streamops.cli.session import Session
from streamops.errors import ExitCode, SettingsError
from streamops.model.fields import option
from streamops.model.name_patterns import is_literal
from streamops.model.observation import Observation
from streamops.monitor.probes import ProbeLimits, ProbeResult, ProbeVerdict, assess_probe
from streamops.resources.probes import nagios_line, probe_document, probe_line
from streamops.resources.streams import asked_for_alone

if TYPE_CHECKING:
    from streamops.operations.console import Console

EXIT_CODES: Final = {
    ProbeVerdict.HELD: ExitCode.DONE,
    ProbeVerdict.WARNED: ExitCode.DONE,
    ProbeVerdict.NOT_KNOWN: ExitCode.NOT_KNOWN,
    ProbeVerdict.BREACHED: ExitCode.BREACHED,
}
NAGIOS_CODES: Final = {
    ProbeVerdict.HELD: 0,
    ProbeVerdict.WARNED: 1,
    ProbeVerdict.BREACHED: 2,
    ProbeVerdict.NOT_KNOWN: UNKNOWN,
}


@command(
    examples=[
        ("streamops check orders --lag 1000 --pending-age 5m", "limits on one stream's groups"),
        ("streamops check --dlq 0", "no dead letter anywhere"),
        ("streamops check", "what the health rules say of everything"),
        ("streamops check --lag 1000 --format nagios", "a Nagios plugin with performance data"),
    ],
    exits={
        0: "within the limits",
        10: "a limit is exceeded",
        11: "not known: the bounds of a number straddle its limit, or something could not be read",
    },
    epilog="With --format nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN for every failure.",
)
def check(
    session: Session,
    *,
    patterns: Patterns = (),
    lag: Annotated[int | None, option("Fail if a group has more than N undelivered entries.")] = None,
    time_lag: Annotated[
        timedelta | None, option("Fail if a group's next undelivered entry is older than this.")
    ] = None,
    pending_age: Annotated[timedelta | None, option("Fail if a pending entry is older than this.")] = None,
    dlq: Annotated[int | None, option("Fail if a dead-letter queue has more than N entries.")] = None,
    style: Annotated[
        str | None, click.Choice(["plain", "nagios"]), option("Output format of the answer.", "format")
    ] = None,
) -> int:
    """Check that every group and dead-letter queue is within its limits: one line, and an exit code.

    Without any limit the health rules decide: critical findings count as exceeded.
    """
    limits = ProbeLimits(lag, time_lag, pending_age, dlq)
    result = _probe(session, patterns, limits)
    if style == "nagios":
        # What is no judgement is told by ``streamops.cli.failures``, whatever it is.
        write(nagios_line(result, limits) + "\n")
        return NAGIOS_CODES[result.verdict]
    if session.given.output in {*DOCUMENTS, Output.JSONL}:
        write(document_text(probe_document(result), session.given.output))
    elif session.given.output is Output.CSV or session.given.fields:
        raise SettingsError("check answers in one line, not in columns", "Use -o json for the numbers.")
    else:
        write(probe_line(result, limits) + "\n")
    return EXIT_CODES[result.verdict]


def _probe(session: Session, patterns: tuple[str, ...], limits: ProbeLimits) -> ProbeResult:
    async def read(console: "Console") -> Observation:
        await console.discover(queues=True)
        return await console.observe()

    observation = session.run(read, patterns)
    if not patterns:
        streams = tuple(view for view in observation.streams if not asked_for_alone(view))
        observation = replace(observation, streams=streams)
    watch = session.settings.watch
    named = [pattern for pattern in patterns or watch.streams if is_literal(pattern)]
    return assess_probe(observation, limits, named=named, max_streams=watch.max_streams)
