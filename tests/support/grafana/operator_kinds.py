"""What is used of the Prometheus operator's kinds, after its custom resource definitions; nothing else is allowed."""

from typing import Final

Schema = dict[str, object]


def closed(required: list[str], **properties: object) -> Schema:
    """A mapping with these keys and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def listed(items: Schema) -> Schema:
    """A list that is not empty."""
    return {"type": "array", "items": items, "minItems": 1}


def custom(kind: str, spec: Schema) -> Schema:
    """A resource of the operator's."""
    return closed(
        ["apiVersion", "kind", "metadata", "spec"],
        apiVersion={"const": "monitoring.coreos.com/v1"},
        kind={"const": kind},
        metadata=closed(["name", "labels"], name=TEXT, labels=TEXTS),
        spec=spec,
    )


TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "object", "additionalProperties": TEXT}
DURATION: Final[Schema] = {"type": "string", "pattern": r"^([0-9]+(ms|[smhdwy]))+$"}

ALERT: Final = closed(
    ["alert", "expr", "labels", "annotations"],
    **{"alert": TEXT, "expr": TEXT, "for": DURATION, "keep_firing_for": DURATION},
    labels=TEXTS,
    annotations=TEXTS,
)
RECORD: Final = closed(["record", "expr"], record=TEXT, expr=TEXT, labels=TEXTS)
RULE_GROUP: Final = closed(
    ["name", "rules"], name=TEXT, interval=DURATION, rules=listed({"oneOf": [ALERT, RECORD]})
)
ENDPOINT: Final = closed(
    ["port"],
    port=TEXT,
    path=TEXT,
    interval=DURATION,
    scrapeTimeout=DURATION,
    relabelings=listed(
        closed(["targetLabel"], targetLabel=TEXT, replacement=TEXT, separator=TEXT, sourceLabels=listed(TEXT))
    ),
)

OPERATOR: Final[dict[str, Schema]] = {
    "PrometheusRule": custom("PrometheusRule", closed(["groups"], groups=listed(RULE_GROUP))),
    "ServiceMonitor": custom(
        "ServiceMonitor",
        closed(
            ["selector", "endpoints"],
            selector=closed(["matchLabels"], matchLabels=TEXTS),
            endpoints=listed(ENDPOINT),
        ),
    ),
}
