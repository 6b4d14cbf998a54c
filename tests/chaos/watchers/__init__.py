"""Exporter, consoles and controllers watch one server that fails, beside somebody who knows what is so at each instant."""
