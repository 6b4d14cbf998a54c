"""Who acts, for the audit log, and how a command line reaches the same server."""

import getpass
import os
import platform
from typing import Final

from streamops.model.acting import Actor, Environment
from streamops.settings.load import Settings

STATED: Final = frozenset({"--context", "STREAMOPS_CONTEXT", "--url", "STREAMOPS_URL"})
"""Where a server is chosen for one call; a configuration's own default needs no words."""


def actor_of(settings: Settings) -> Actor:
    """This process as the one who acts, in the context in use."""
    name = settings.context or settings.connection.label
    return this_actor(name, settings.environment, selector_of(settings))


def this_actor(context: str, environment: Environment, selector: tuple[str, ...] = ()) -> Actor:
    """This process as the one who acts in a context, or at an address."""
    return Actor(
        user=_user(),
        host=platform.node(),
        pid=os.getpid(),
        context=context,
        environment=environment,
        selector=selector,
    )


def selector_of(settings: Settings) -> tuple[str, ...]:
    """The options that choose the server; an address goes without its user and its secrets."""
    if settings.context is not None:
        return ("-c", settings.context) if settings.origins.get("context") in STATED else ()
    return ("--url", settings.connection.label) if settings.origins.get("url") in STATED else ()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container's user may have a number and no name.
        return f"uid {os.getuid()}"
