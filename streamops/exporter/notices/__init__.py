"""Telling people what fires, without an Alertmanager. Law: what is not known neither fires nor resolves anything."""
