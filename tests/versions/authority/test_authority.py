"""A tenant's writes lead nowhere else, whoever acts on them."""

import os

import pytest

from tests.support.authority.machine import play
from tests.support.programs import PROGRAMS, ServerProgram
from tests.support.servers import ServerPool

HISTORIES = {"ci": 10, "long": 90}


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("program", [PROGRAMS[0], PROGRAMS[-1]], ids=lambda program: program.label)
def test_forgeries_of_a_tenant_change_nothing_beyond_its_stream(
    server_pool: ServerPool, program: ServerProgram
) -> None:
    play(server_pool.flushed(program), HISTORIES.get(os.environ.get("STREAMOPS_EXAMPLES", ""), 8))
