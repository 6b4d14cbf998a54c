"""The command line under a real plan asks for what was planned."""

from pathlib import Path

import pytest

from streamops.model.fields import intent_fields
from streamops.operations.console import Console
from tests.support.operations.engine.examples import (
    EXAMPLES,
    WORKSHOP,
    Scene,
    add_shop_with_letters_and_queue,
)
from tests.support.servers import RunningServer
from tests.unit.cli.typed import intent_of


@pytest.mark.parametrize("name", EXAMPLES)
async def test_command_of_a_plan_asks_for_its_intent(
    server: RunningServer, tmp_path: Path, name: str
) -> None:
    add_shop_with_letters_and_queue(server.command)
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        intent = await EXAMPLES[name].ready(Scene(console, tmp_path))
        prepared = await console.prepare(intent)
    typed = intent_of(prepared.plan.command)
    # What takes an action back may be another operation.
    asked = intent if type(intent) is type(typed) else prepared.intent
    assert type(typed) is type(asked)
    for field in intent_fields(type(asked)):
        wanted = getattr(asked, field.name)
        if field.backup and wanted is None:
            continue  # A command line writes one in any case.
        assert getattr(typed, field.name) == wanted, field.name
