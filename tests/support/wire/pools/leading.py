"""Shared by the tests of leading."""

from datetime import timedelta

from streamops.model.ids import EPOCH
from streamops.model.pools import PoolDecision
from streamops.model.scaling import ScaleCode

LEASE = timedelta(seconds=15)
UP = PoolDecision(at=EPOCH, code=ScaleCode.BACKLOG, text="900 waiting", ordered=2, ready=2, target=4)
