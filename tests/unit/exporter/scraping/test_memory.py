"""A day of scraping leaves memory flat: every 15 s by a fake clock, with streams and consumers that come and go."""

from tests.benchmarks.fast_forward import GROUPS, POD_LIFE, STREAM_LIFE, blocks_in_use, fast_forward

STREAMS = 2
DAY = 5_760
EVERY = 800
SOME_BLOCKS = 2_000


def test_a_day_of_scraping_leaves_memory_flat() -> None:
    # Always at the same point of every stream's and every consumer's life.
    assert EVERY % STREAM_LIFE == EVERY % POD_LIFE == 0
    used: list[int] = []
    names: set[str] = set()
    for number, page in fast_forward(STREAMS, DAY):
        if number % EVERY == EVERY - 1:
            used.append(blocks_in_use())
        if number % STREAM_LIFE == 0:
            told = page.text().decode().splitlines()
            names |= {line.partition(" ")[0] for line in told if line.startswith("streamops_stream_length{")}
            assert sum(line.startswith("streamops_group_lag_entries{") for line in told) == STREAMS * len(
                GROUPS
            )
    # They did come and go.
    assert len(names) == STREAMS * -(-DAY // STREAM_LIFE)
    assert max(used[1:]) - used[0] < SOME_BLOCKS, used
