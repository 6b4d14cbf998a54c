"""Who acts, for the audit log."""

import getpass
import os
import platform

from streamops.model.acting import Actor, Environment
from streamops.settings.load import Settings


def actor_of(settings: Settings) -> Actor:
    """This process as the one who acts, in the context in use."""
    return this_actor(settings.context or settings.connection.label, settings.environment)


def this_actor(context: str, environment: Environment) -> Actor:
    """This process as the one who acts in a context, or at an address."""
    return Actor(
        user=_user(), host=platform.node(), pid=os.getpid(), context=context, environment=environment
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container's user may have a number and no name.
        return f"uid {os.getuid()}"
