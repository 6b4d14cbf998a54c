"""A board of pools."""

from tests.support.autoscaler.keda.serving import board

__all__ = ["board"]
