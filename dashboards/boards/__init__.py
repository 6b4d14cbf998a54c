"""The Grafana dashboards: one module a board, each a pure function to Grafana's own types.

A board says which panels stand in which line and what they ask; how a panel, a variable or a link is made stands
once, in the modules beside them.
"""

import warnings

with warnings.catch_warnings():
    # The SDK warns on import that newer Grafanas have a second format. The one used here is read by all of them.
    warnings.simplefilter("ignore", DeprecationWarning)
    import grafana_foundation_sdk.builders.dashboard  # noqa: F401 - imported for that warning
