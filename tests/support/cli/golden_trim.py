"""The configuration of a production server."""

CONFIG = """
default_context = "local"
[contexts.local]
url = "{url}"
environment = "production"
"""
