"""A board of pools."""

from tests.support.autoscaling.keda.serving import board

__all__ = ["board"]
