"""The HTTP face. Law: nothing is served before its rules of admission allow it, and a broken configuration changes nothing."""
