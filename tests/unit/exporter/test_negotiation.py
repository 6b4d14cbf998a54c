"""Which format is sent: what prometheus_client chooses, whatever is asked for."""

from streamops.exporter.rendering import Form
from streamops.exporter.server import choose_form
from tests.support.tables import table

PROMETHEUS_2_42 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
PROTOBUF_FIRST = (
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
    "text/plain;version=0.0.4;q=0.5"
)


@table(
    ("accept", "form"),
    [
        ("", Form.TEXT),
        ("*/*", Form.TEXT),
        ("text/html,application/xhtml+xml,*/*;q=0.8", Form.TEXT),
        ("text/plain", Form.TEXT),
        ("application/json", Form.TEXT),
        (PROMETHEUS_2_42, Form.OPENMETRICS),
        (PROMETHEUS_3, Form.OPENMETRICS),
        (PROTOBUF_FIRST, Form.TEXT),
        ("application/openmetrics-text", Form.OPENMETRICS),
        ("application/openmetrics-text; version=0.0.1", Form.TEXT),
        ("text/plain;q=0.3,application/openmetrics-text;version=1.0.0;q=0.9", Form.OPENMETRICS),
        (",;,;q=1", Form.TEXT),
        ("application/openmetrics-text;version=many", Form.TEXT),
        ("application/openmetrics-text;version=9.9.9", Form.OPENMETRICS),
    ],
)
def test_a_format_is_chosen_as_it_is_asked_for(accept: str, form: Form) -> None:
    assert choose_form(accept) is form
