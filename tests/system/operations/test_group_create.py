"""Creating groups on real servers."""

from pathlib import Path

import pytest

from streamops.errors import NotFound
from streamops.model.acting import Actor
from streamops.operations.console import Console
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from tests.support.deployments import RunningCluster
from tests.support.operations.doing import done, planned


async def test_groups_are_created_and_rewound_on_a_cluster(cluster: RunningCluster, tmp_path: Path) -> None:
    async with await Console.open(cluster.options, actor=Actor("ann", "here", 1)) as console:
        for stream in ("orders", "{shop}:orders", "a}b"):
            await done(console, CreateGroupIntent(stream=stream, group="g", at="0", mkstream=True))
            await done(console, CreateGroupIntent(stream=stream, group="h", at="$"))
            await done(console, RewindGroupIntent(stream=stream, group="g", to_end=True))
            assert (await planned(console, PruneConsumersIntent(stream=stream, group="g"))).count == 0
            backup = str(tmp_path / stream.strip("{}").replace(":", "-"))
            await done(console, DestroyGroupIntent(stream=stream, group="g", backup=backup))
            assert (await planned(console, DestroyGroupIntent(stream=stream, group="h"))).count == 1
            with pytest.raises(NotFound):
                await console.prepare(DestroyGroupIntent(stream=stream, group="g"))
