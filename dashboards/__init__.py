"""What is shown and asked of the metrics: Grafana dashboards, Prometheus rules, and how they are made.

Everything that another program reads (``*.json``, ``*.rules.yml``) is written by ``python -m dashboards`` from the
builders here, which are pure: the same source makes the same bytes.
"""
