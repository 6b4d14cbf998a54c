"""Serving HTTP. Law: nothing is served before the rules of admission allow it, and a broken configuration changes nothing."""
