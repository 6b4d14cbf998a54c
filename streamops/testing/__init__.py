"""Testing applications: a real server, a worker in the test's own process, and the moment when all is done.

Law: no server is imitated. Tests of an application run against what production runs against.
"""

from streamops.testing.stage import Stage, StagedDeadLetter, embedded_redis, staged

__all__ = ["Stage", "StagedDeadLetter", "embedded_redis", "staged"]
