"""Shared by the tests of golden trim."""

CONFIG = """
default_context = "local"
[contexts.local]
url = "{url}"
environment = "production"
"""
