"""Tests of the dashboards and the rules."""

import dashboards.boards  # noqa: F401 - before the SDK of Grafana, whose warnings are dealt with there
