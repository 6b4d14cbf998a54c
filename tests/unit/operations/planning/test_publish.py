"""What plans of publishing say of the cap that they trim to."""

import pytest

from streamops.model.acting import StreamIdentity
from streamops.model.entries import Amount, EntryId
from streamops.operations.losses import GroupLoss, TrimEvidence
from streamops.operations.publish.intent import PublishIntent
from streamops.operations.publish.plan import PublishEvidence, plan_publish

GOES = Amount(40, 40)
LAST = EntryId(9, 0)
CAPPED = PublishIntent(stream="s", pairs=((b"n", b"1"),), maxlen=61)


def evidence(groups: int, removable: Amount = GOES, losses: tuple[GroupLoss, ...] = ()) -> PublishEvidence:
    positions = tuple((f"g{number}", LAST) for number in range(groups))
    cap = TrimEvidence(
        identity=StreamIdentity(("a",), LAST, positions),
        length=100,
        entry_bytes=10,
        asked=LAST,
        wanted=removable,
        removable=removable,
        losses=losses,
    )
    return PublishEvidence(
        exists=True,
        length=100,
        last_generated_id=LAST,
        groups=tuple(name for name, _ in positions),
        cap=cap,
    )


@pytest.mark.parametrize(
    ("losses", "held"), [((), 45), ((GroupLoss("g1", GOES, (), pending_complete=True),), 18)]
)
def test_that_trimming_to_a_cap_holds_the_server_is_told(losses: tuple[GroupLoss, ...], held: int) -> None:
    assert plan_publish(CAPPED, evidence(10_000, losses=losses)).warnings[-1] == (
        "The stream has 10,000 groups, and each step looks at all of them: "
        f"it holds the server for about {held} ms."
    )


@pytest.mark.parametrize(
    "one", [evidence(2_000), evidence(10_000, Amount(0, 0))], ids=["few groups", "nothing goes"]
)
def test_where_it_does_not_nothing_is_told(one: PublishEvidence) -> None:
    assert plan_publish(CAPPED, one).warnings == ()
