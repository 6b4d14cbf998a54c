"""The Prometheus exporter. Law: what it prints is made purely of one observation and what was counted before it.

The server collects on a scrape or never; the catalogue names every metric before anything prints it.
"""
