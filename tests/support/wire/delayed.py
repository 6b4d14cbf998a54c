"""Shared by the tests of delayed."""

from streamops.model.delayed import DelayedBody

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
ORDER = DelayedBody("orders", ((b"tag", b"a"), (b"tag", b"b\xff"), (b"", b"")))
