"""Restoring entries from files: byte for byte, each once, under IDs that fit."""

from pathlib import Path

import pytest

from streamops.errors import Forbidden
from streamops.model.acting import Actor
from streamops.operations.console import Console
from streamops.operations.restore.intent import RestoreIntent
from tests.support.deployments import RunningCluster
from tests.support.operations.doing import done
from tests.support.operations.restoring import written


async def test_on_a_cluster_the_marker_shares_the_streams_slot(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with await Console.open(cluster.options, actor=Actor("ann", "here", 1)) as console:
        for stream in ("orders", "{shop}:orders", "a:b"):
            path = written(tmp_path / stream.replace(":", ""), 5, stream=stream)
            await done(console, RestoreIntent(file=path))
            page = await console.read_entries(stream)
            assert len(page.entries) == 5
        path = written(tmp_path / "odd", 1, stream="a}b")
        with pytest.raises(Forbidden, match="no key can be made"):
            await console.prepare(RestoreIntent(file=path))
