import click

from streamops.cli.commands.run import run
from streamops.model.measures import SIZES, parse_measure, parse_size
from tests.support.tables import table

# What redis.conf says of its units, at its top.
REDIS = {
    "1k": 1000,
    "1kb": 1024,
    "1m": 1000000,
    "1mb": 1024 * 1024,
    "1g": 1000000000,
    "1gb": 1024 * 1024 * 1024,
}
CONVERT = next(param for param in run.params if param.name == "max_memory").type.convert


@table(("written", "number"), REDIS.items())
def test_a_size_is_the_same_number_of_bytes_in_options_filters_and_in_redis_conf(
    written: str, number: int
) -> None:
    for spelled in (written, written.upper()):
        assert parse_size(spelled) == number
        assert parse_measure(spelled, SIZES) == number
        assert CONVERT(spelled, None, click.Context(run)) == number
