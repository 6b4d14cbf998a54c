"""A script reaches every key, whatever its server has seen of it before."""

from streamops.wire.scripts import load_script


def test_comments_are_not_sent() -> None:
    for name in ("count_range", "read_stream"):
        script = load_script(name)
        assert "--" not in script.source
        assert "redis." in script.source
        assert len(script.sha) == 40
