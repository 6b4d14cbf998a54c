"""Guards of delayed messages."""

from typing import Final

from tests.chaos.mutations.guard import Guard

SCRIPTS: Final = "streamops/wire/scripts"

GUARDS: Final = (
    Guard(
        name="pump-member-decides",
        promise="Whoever is moved is no member of the queue any more: of many pumps one moves a message.",
        file=f"{SCRIPTS}/pump.lua",
        text="  redis.call('ZREM', queue, unpack(done))\n",
        mutated="",
        tests=("wire/consuming::test_the_first_due_comes_first",),
    ),
    Guard(
        name="pump-due-alone",
        promise="No message is moved before its time.",
        file=f"{SCRIPTS}/pump.lua",
        text="redis.call('ZRANGEBYSCORE', queue, '-inf', now, 'LIMIT', 0, ARGV[1])",
        mutated="redis.call('ZRANGEBYSCORE', queue, '-inf', '+inf', 'LIMIT', 0, ARGV[1])",
        tests=("wire/consuming::test_the_first_due_comes_first",),
    ),
    Guard(
        name="pump-adds-first",
        promise="A message whose entry cannot be added stays in the queue.",
        file=f"{SCRIPTS}/pump.lua",
        text="if type(added) == 'table' then return fail(destination, id, added.err) end",
        mutated="",
        tests=("wire/consuming::test_a_destination_that_is_no_stream",),
    ),
    Guard(
        name="pump-asks-first",
        promise="An entry is not added where its message could not be taken off the queue.",
        file=f"{SCRIPTS}/pump.lua",
        text="  redis.call('ZREM', queue, NOBODY)\n",
        mutated="",
        tests=("wire/consuming::test_permissions_are_looked_at_first",),
    ),
    Guard(
        name="pump-no-body-waits",
        promise="A message without a body waits once, because others may write the two halves apart.",
        file=f"{SCRIPTS}/pump.lua",
        text="elseif tonumber(redis.call('ZSCORE', queue, id)) % 1 == WAITED then",
        mutated="elseif true then",
        tests=("wire/consuming::test_a_message_without_a_body_waits_once",),
    ),
    Guard(
        name="pump-buries-unreadable",
        promise="What can never become an entry goes to the dead letters, its body as it is.",
        file=f"{SCRIPTS}/pump.lua",
        text="if type(added) == 'table' then return fail(letters, id, added.err) end",
        mutated="",
        tests=("wire/consuming::test_dead_letters_that_cannot_be_written",),
    ),
    Guard(
        name="delayed-version",
        promise="A body of another version of the format is not taken for one of this.",
        file=f"{SCRIPTS}/delayed_body.lua",
        text="if body[1] ~= VERSION then return nil,",
        mutated="if false then return nil,",
        tests=("upgrades::test_delayed_messages_of_a_later_version_wait_for_its_workers",),
    ),
    Guard(
        name="delayed-id-taken",
        promise="A delayed message is not written over another one of its ID.",
        file=f"{SCRIPTS}/delayed_schedule.lua",
        text="if scores[number] or bodies[number] or seen[id] then",
        mutated="if false then",
        tests=("wire::test_ids_that_are_taken",),
    ),
    Guard(
        name="delayed-no-halves",
        promise="Where the queue must not be written to, no body is left without its message.",
        file=f"{SCRIPTS}/delayed_schedule.lua",
        text="redis.call('ZADD', KEYS[1], 'XX', 0, members[2])\n",
        mutated="",
        tests=("wire::test_no_halves_for_those_without_permission",),
    ),
    Guard(
        name="delayed-server-clock",
        promise="A delay passes by the server's clock, whatever the clocks of publishers say.",
        file=f"{SCRIPTS}/delayed_schedule.lua",
        text="due = string.format('%.0f', now + due)",
        mutated="due = string.format('%.0f', 0 + due)",
        tests=("wire::test_delays_are_by_the_servers_clock",),
    ),
    Guard(
        name="delayed-run-unchanged",
        promise="Of delayed messages only those run now that are what the plan read.",
        file=f"{SCRIPTS}/delayed_run.lua",
        text="elseif redis.sha1hex(body) ~= digest then",
        mutated="elseif false then",
        tests=("wire::test_move",),
    ),
    Guard(
        name="delayed-run-adds-first",
        promise="A delayed message that could not be added to its stream stays.",
        file=f"{SCRIPTS}/delayed_run.lua",
        text="      rows[#rows + 1] = {'failed', added.err}\n    else\n",
        mutated="      rows[#rows + 1] = {'failed', added.err}\n    end\n    do\n",
        tests=("wire::test_destination_that_is_no_stream",),
    ),
    Guard(
        name="delayed-cancel-unchanged",
        promise="Only those are cancelled that are what the plan read.",
        file=f"{SCRIPTS}/delayed_cancel.lua",
        text="elseif digest ~= '*' and (body and redis.sha1hex(body) or '') ~= digest then",
        mutated="elseif false then",
        tests=("wire::test_cancel",),
    ),
)
