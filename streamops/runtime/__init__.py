"""The consumer library: handlers, workers, publishers, supervision.

Law: nothing here knows of the console; it speaks to servers through ``wire``, and what it decides is pure.
"""

from typing import TYPE_CHECKING

from streamops.errors import HandlerError, Reject, RetryLater, Skip
from streamops.runtime.app import Streamops
from streamops.runtime.dependencies import Depends
from streamops.runtime.entry import Entry
from streamops.runtime.handlers import BatchCall, Call, IdempotencyRule
from streamops.runtime.payloads import Payload
from streamops.runtime.publisher import Publisher, Schema
from streamops.runtime.retry import Delays, Exponential, HandlerTimeout, Jitter, Linear, former_odd_minutes
from streamops.runtime.router import Router
from streamops.runtime.worker import Worker, WorkerOptions

__all__ = [
    "BatchCall",
    "Call",
    "Delays",
    "Depends",
    "Entry",
    "Exponential",
    "HandlerError",
    "HandlerTimeout",
    "IdempotencyRule",
    "Jitter",
    "Linear",
    "Payload",
    "Publisher",
    "Reject",
    "RetryLater",
    "Router",
    "Schema",
    "Skip",
    "Streamops",
    "Worker",
    "WorkerOptions",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "OddMinutes":
            return former_odd_minutes
        raise AttributeError(f"module {__name__} has no attribute {name}")
