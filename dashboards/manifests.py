"""The rules as a resource of the Prometheus operator's, for those who run it."""

from textwrap import indent
from typing import Final

from dashboards.rules import build_rules

PATH: Final = "../grafana/kubernetes/prometheusrule.yaml"

_HEAD: Final = """\
# Written by `python -m dashboards`: the rules of dashboards/streamops.rules.yml for the Prometheus operator.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: streamops
  labels:
    app.kubernetes.io/name: streamops-exporter
    app.kubernetes.io/part-of: streamops
spec:
"""


def build_manifest(runbooks: str = "") -> str:
    """The manifest; raises ``ValueError`` where the address of the runbooks is not absolute."""
    return _HEAD + indent(build_rules(runbooks=runbooks), "  ")


def manifest_files() -> dict[str, str]:
    """The manifest by its path."""
    return {PATH: build_manifest()}
