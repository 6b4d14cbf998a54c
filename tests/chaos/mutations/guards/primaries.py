"""Guards of workers whose primary is replaced, while the former one goes on."""

from typing import Final

from tests.chaos.mutations.guard import Guard

GUARDS: Final = (
    Guard(
        name="former-primary-superseded",
        promise="What a former primary delivered is not taken for an entry of the new one that has its ID.",
        file="streamops/runtime/entry.py",
        text="if held is None or held.as_delivered == raw:",
        mutated="if True:",
        tests=("runtime::test_the_entry_of_a_new_primary_outlives_one_of_the_former_with_its_id",),
    ),
    Guard(
        name="superseded-not-acknowledged",
        promise="Nothing is acknowledged for an entry whose ID another one has by now.",
        file="streamops/runtime/acks.py",
        text="            if entry.superseded:\n                continue\n",
        mutated="",
        tests=("runtime::test_the_entry_of_a_new_primary_outlives_one_of_the_former_with_its_id",),
    ),
    Guard(
        name="superseded-not-settled",
        promise="Nothing is tried again, or given up, for an entry whose ID another one has by now.",
        file="streamops/runtime/settling.py",
        text="        if entry.superseded:\n            return False\n",
        mutated="",
        tests=("runtime::test_the_entry_of_a_new_primary_outlives_one_of_the_former_with_its_id",),
    ),
    Guard(
        name="superseded-not-settled-late",
        promise="Nor is anything where another primary took over while that was tried again and again.",
        file="streamops/runtime/settling.py",
        text="        while not entry.lost:\n            try:\n                settled",
        mutated="        while True:\n            try:\n                settled",
        tests=("runtime::test_so_it_does_while_the_former_ones_is_to_be_settled",),
    ),
    Guard(
        name="settled-by-its-fields",
        promise="What a former primary delivered settles no entry of the new one that has its ID and was delivered unheard.",
        file="streamops/wire/scripts/consume_rows.lua",
        text="return redis.sha1hex(table.concat(sized)) == digest",
        mutated="return true",
        tests=(
            "integration::test_entry_of_a_new_primary_delivered_unheard_outlives_one_of_the_former_with_its_id",
        ),
    ),
    Guard(
        name="acknowledged-by-its-fields",
        promise="A renewed lease does not make a former primary's entry the new one's.",
        file="streamops/runtime/acks.py",
        text="entry.leased_at > fresh and entry.handovers == handovers",
        mutated="entry.leased_at > fresh",
        tests=(
            "integration::test_entry_of_a_new_primary_delivered_unheard_outlives_one_of_the_former_with_its_id",
        ),
    ),
    Guard(
        name="company-hears",
        promise="A worker that reads from a new primary acknowledges nothing at the former one.",
        file="streamops/wire/single.py",
        text="return time.monotonic() < self._look_at and self._news() is None",
        mutated="return time.monotonic() < self._look_at",
        tests=("runtime::test_whoever_reads_from_the_new_primary_does_not_acknowledge_at_the_former_one",),
    ),
    Guard(
        name="late-sentinels",
        promise="A Sentinel that has not heard of the last failover is not believed while another one has.",
        file="streamops/wire/sentinel.py",
        text="if named and not self._succession.is_newer_than(named):",
        mutated="if named:",
        tests=("wire::test_a_sentinel_that_was_told_late_is_passed_over_by_whoever_knows_better",),
    ),
    Guard(
        name="silent-sentinels",
        promise="A Sentinel that has not heard of the last failover is not believed because others do not answer.",
        file="streamops/wire/sentinel.py",
        text="if len(late) + strangers < len(self.sentinels):",
        mutated="if False:",
        tests=(
            "wire::test_a_sentinel_that_was_told_late_is_passed_over_by_whoever_knows_better",
            "wire::test_a_sentinel_that_holds_the_primary_down_may_know_better_than_one_that_was_told_late",
        ),
    ),
    Guard(
        name="promoted-replica",
        promise="During a failover the promoted replica is followed as soon as a Sentinel names it.",
        file="streamops/wire/sentinel.py",
        text='if "failover_in_progress" in state["flags"]:',
        mutated="if False:",
        tests=("wire::test_a_promoted_replica_is_gone_on_with_as_soon_as_the_sentinel_names_it",),
    ),
    Guard(
        name="acknowledged-where-it-came-from",
        promise="A plain acknowledgement is not sent to another primary than the one it is meant for.",
        file="streamops/wire/server.py",
        text="if self.handovers != handovers:",
        mutated="if False:",
        tests=("runtime::test_what_a_former_primary_delivered_is_looked_at_on_the_new_one",),
    ),
    Guard(
        name="not-acknowledged-where-it-moved",
        promise="A plain acknowledgement does not follow a slot of a cluster to another node.",
        file="streamops/wire/server.py",
        text="            if not isinstance(reply, MovedError):\n                # That",
        mutated="            if True:\n                # That",
        tests=("runtime::test_what_another_node_of_a_cluster_delivered_is_looked_at",),
    ),
    Guard(
        name="moves-counted",
        promise="After a slot of a cluster went to another node, what came before is looked at before it is acknowledged.",
        file="streamops/wire/cluster.py",
        text="self._succession.moves += bool(former.ranges) and former.ranges != self._map.ranges",
        mutated="del former",
        tests=("runtime::test_what_another_node_of_a_cluster_delivered_is_looked_at",),
    ),
    Guard(
        name="doubtful-sentinels",
        promise="Sentinels that were told late are not believed while one that answers may know better.",
        file="streamops/wire/sentinel.py",
        text="                    self._succession.doubt()\n",
        mutated="                    pass\n",
        tests=(
            "wire::test_a_sentinel_that_holds_the_primary_down_may_know_better_than_one_that_was_told_late",
        ),
    ),
)
