"""Retry streams, told with the groups that they belong to instead of as streams of their own. Pure."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from streamops.model.observation import Finding, GroupView, Retries, StreamView
from streamops.model.streams import StreamRole
from streamops.model.wording import quoted

GroupKey = tuple[str, str]


def fold_retries(streams: Sequence[StreamView]) -> Sequence[StreamView]:
    """The streams with each retry stream folded into its group; one whose group is not among them stays.

    What was found about a retry stream is told of the group. Streams without any stay the very objects that they are.
    """
    folded = _found(streams)
    if not folded:
        return streams
    inside = {id(retries) for retries in folded.values()}
    return tuple(_with_retries(view, folded) for view in streams if id(view) not in inside)


def _found(streams: Sequence[StreamView]) -> dict[GroupKey, StreamView]:
    """Retry streams by the stream and the group that they belong to."""
    retries = [view for view in streams if view.stream.role is StreamRole.RETRY]
    if not retries:
        return {}
    known = {(view.stream.name, group.group.name) for view in streams for group in view.groups}
    found: dict[GroupKey, StreamView] = {}
    for view in retries:
        source = view.stream.source
        # Read by its own group alone; whatever else it is, is shown as it is.
        if source is None or len(view.groups) != 1:
            continue
        name = view.groups[0].group.name
        for owner in ((source, name), (f"{{{source}}}", name)):
            if owner in known:
                found.setdefault(owner, view)
                break
    return found


def _with_retries(view: StreamView, folded: Mapping[GroupKey, StreamView]) -> StreamView:
    if not any((view.stream.name, group.group.name) in folded for group in view.groups):
        return view
    groups = tuple(
        _joined(group, retries) if (retries := folded.get((view.stream.name, group.group.name))) else group
        for group in view.groups
    )
    health = max([view.health, *(group.health for group in groups)])
    return replace(view, groups=groups, health=health)


def _joined(group: GroupView, view: StreamView) -> GroupView:
    """A group with what is known of its retry stream."""
    state, (its_group,) = view.stream, view.groups
    told = {finding.code for finding in group.findings}
    more = [
        _told_of(finding, state.name)
        for finding in (*its_group.findings, *view.findings)
        if finding.code not in told
    ]
    findings = sorted([*group.findings, *more], key=lambda finding: -finding.level)
    return replace(
        group,
        findings=tuple(findings),
        health=max(group.health, view.health),
        retries=Retries(state.name, state.length, its_group.group.pending, its_group.group.lag),
    )


def _told_of(finding: Finding, stream: str) -> Finding:
    return replace(finding, text=f"in its retry stream {quoted(stream)}: {finding.text}")
