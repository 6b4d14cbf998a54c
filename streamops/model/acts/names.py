"""The names of all operations, for whoever must not load the operations themselves."""

from typing import Final

OPERATION_NAMES: Final = (
    "ack",
    "claim",
    "consumers.prune",
    "consumers.rm",
    "delayed.cancel",
    "delayed.run-now",
    "dlq.purge",
    "groups.create",
    "groups.destroy",
    "groups.rewind",
    "jobs.cancel",
    "nack",
    "pause",
    "publish",
    "replay",
    "restore",
    "resume",
    "streams.rm-entry",
    "tend",
    "topics.add",
    "topics.off",
    "topics.on",
    "topics.rm",
    "trim",
    "undo",
)
