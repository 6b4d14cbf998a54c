"""What a configuration file may say of the exporter."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from streamops.model.name_patterns import name_pattern

DEFAULT_LISTEN: Final = "127.0.0.1:9641"

Most = Annotated[int, Meta(ge=1, le=1_000_000)]


class ExporterTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[exporter]``: where metrics are served, and which.

    Attributes:
        listen: Host and port to listen at.
        web_config: Web-config file of exporter-toolkit, with TLS and passwords; relative to the directory of this file.
        include: Regular expressions; streams are shown whose whole names one of them matches. None means all.
        exclude: The same for streams to leave out; they win.
        max_streams: At most so many streams, those with the greatest lag.
        max_consumers: At most so many consumers of a group.
        granularity: Down to what there are metrics.
    """

    listen: str = DEFAULT_LISTEN
    web_config: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_streams: Most = 2_000
    max_consumers: Most = 200
    granularity: Literal["stream", "group", "consumer"] = "consumer"

    def __post_init__(self) -> None:
        for key in ("include", "exclude"):
            for pattern in getattr(self, key):
                try:
                    name_pattern(pattern)
                except ValueError as error:
                    raise ValueError(f"{key}: {pattern!r} is no regular expression: {error}") from None
