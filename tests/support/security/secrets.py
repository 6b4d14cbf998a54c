"""Shared by the tests of secrets."""

CONTEXTS = ("byurl", "byfile", "bycommand", "wrong", "away", "tls", "failing")
