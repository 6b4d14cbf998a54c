"""How values look: thresholds, words for numbers, colours of series."""

from collections.abc import Mapping

from grafana_foundation_sdk.models import dashboard

from dashboards.boards.colours import Steps

Words = Mapping[str, tuple[str, str]]
"""A value as text, what it says, and its colour."""


def thresholds(steps: Steps) -> dashboard.ThresholdsConfig:
    """Colours from values on."""
    return dashboard.ThresholdsConfig(
        mode=dashboard.ThresholdsMode.ABSOLUTE,
        steps=[dashboard.Threshold(value=value, color=colour) for value, colour in steps],
    )


def mappings(words: Words) -> list[dashboard.ValueMapping]:
    """Words and colours instead of values."""
    if not words:
        return []
    results = {
        value: dashboard.ValueMappingResult(text=text, color=colour, index=at)
        for at, (value, (text, colour)) in enumerate(words.items())
    }
    return [dashboard.ValueMap(options=results)]


def override(
    name: str, matcher: str = "byName", /, **properties: object
) -> dashboard.DashboardFieldConfigSourceOverrides:
    """What is different about a series or column; two underscores in a property's name are a dot."""
    return dashboard.DashboardFieldConfigSourceOverrides(
        matcher=dashboard.MatcherConfig(id_val=matcher, options=name),
        properties=[
            dashboard.DynamicConfigValue(id_val=key.replace("__", "."), value=value)
            for key, value in properties.items()
            if value is not None
        ],
    )


def fixed(
    colours: Mapping[str, str], pattern: str = ""
) -> list[dashboard.DashboardFieldConfigSourceOverrides]:
    """Series that have a colour of their own.

    Args:
        colours: The colours, by what the series are called.
        pattern: A pattern of what they are called, with a ``%s`` for that; the name itself where none is given.
    """
    matcher = "byRegexp" if pattern else "byName"
    return [
        override(
            pattern.replace("%s", name) if pattern else name,
            matcher,
            color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.FIXED, fixed_color=colour),
        )
        for name, colour in colours.items()
    ]
