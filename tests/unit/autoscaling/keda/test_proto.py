"""The interface, held against what KEDA's own file says, and the code that was generated of it."""

from google.protobuf.descriptor import FieldDescriptor

from streamops.autoscaling.keda.proto import externalscaler_pb2 as pb

MESSAGES = {
    "ScaledObjectRef": {
        "name": (1, "string"),
        "namespace": (2, "string"),
        "scalerMetadata": (3, "map<string, string>"),
    },
    "IsActiveResponse": {"result": (1, "bool")},
    "GetMetricSpecResponse": {"metricSpecs": (1, "MetricSpec...")},
    "MetricSpec": {
        "metricName": (1, "string"),
        "targetSize": (2, "int64"),
        "targetSizeFloat": (3, "double"),
    },
    "GetMetricsRequest": {"scaledObjectRef": (1, "ScaledObjectRef"), "metricName": (2, "string")},
    "GetMetricsResponse": {"metricValues": (1, "MetricValue...")},
    "MetricValue": {
        "metricName": (1, "string"),
        "metricValue": (2, "int64"),
        "metricValueFloat": (3, "double"),
    },
}
"""Of KEDA's pkg/scalers/externalscaler/externalscaler.proto."""


KINDS = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_DOUBLE: "double",
}


def shape(field: FieldDescriptor) -> tuple[int, str]:
    """A field's number and its type."""
    if field.message_type is None:
        return field.number, KINDS[field.type]
    if field.message_type.GetOptions().map_entry:
        pair = [KINDS[one.type] for one in field.message_type.fields]
        return field.number, f"map<{', '.join(pair)}>"
    return field.number, field.message_type.name + ("..." if field.is_repeated else "")


def test_messages_are_keda_s() -> None:
    found = pb.DESCRIPTOR.message_types_by_name
    assert {
        name: {field.name: shape(field) for field in kind.fields} for name, kind in found.items()
    } == MESSAGES
