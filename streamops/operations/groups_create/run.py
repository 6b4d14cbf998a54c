"""``groups.create``: create a consumer group."""

from streamops.errors import NotFound, SettingsError
from streamops.model.acting import Plan
from streamops.model.entries import LAST_ID, ZERO_ID, Amount, EntryId
from streamops.model.streams import NO_SUCH_STREAM
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import count_between, entries_read_at, find_stream
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_create.plan import CreateGroupEvidence, plan_create_group
from streamops.operations.operation import Operation
from streamops.operations.running import Run
from streamops.wire.writes.groups import create_group

END = "$"


async def survey_create_group(place: ServerContext, intent: CreateGroupIntent) -> CreateGroupEvidence:
    """Read the stream, and how much of it the group would be given."""
    wanted = _wanted(intent.at)
    look = await find_stream(place.server, intent.stream)
    if look is None:
        if not intent.mkstream:
            raise NotFound(
                f"stream {intent.stream}: {NO_SUCH_STREAM}", "Create it along with the group by --mkstream."
            )
        return CreateGroupEvidence(position=wanted or ZERO_ID)
    stream = look.reading
    end = stream.last_generated_id or ZERO_ID
    position = end if wanted is None else wanted
    existing = next((one.last_delivered_id for one in stream.groups if one.name == intent.group), None)
    # At the end the script reads the counter: it changes with every entry.
    exists = existing is not None
    ahead = Amount(0, 0) if exists else await count_between(place.server, look, position, LAST_ID)
    counter = intent.entries_read if stream.entries_added is not None else None
    if counter is None and not exists and wanted is not None:
        counter = await entries_read_at(place.server, look, position, ahead)
    return CreateGroupEvidence(
        identity=look.identity,
        length=stream.length,
        position=position,
        existing=existing,
        ahead=ahead,
        entries_read=counter,
        other_groups=look.others(intent.group),
    )


async def apply_create_group(
    run: Run, intent: CreateGroupIntent, evidence: CreateGroupEvidence, _: Plan
) -> None:
    """Create it."""
    await create_group(
        run.server,
        intent.stream,
        intent.group,
        at=END if _wanted(intent.at) is None else str(evidence.position),
        entries_read=evidence.entries_read,
        mkstream=evidence.identity is None,
    )
    await run.report(1)


def _wanted(at: str) -> EntryId | None:
    """The ID that a group is to begin after; none for the end."""
    if at == END:
        return None
    try:
        return EntryId.parse(at)
    except ValueError as error:
        raise SettingsError(
            f"--at: {error}", "Write 0 for the whole stream, $ for its end, or an entry ID."
        ) from None


CREATE_GROUP = Operation(
    intent=CreateGroupIntent,
    survey=survey_create_group,
    plan=plan_create_group,
    apply=apply_create_group,
    writes=("XGROUP CREATE",),
)
OPERATIONS = (CREATE_GROUP,)
