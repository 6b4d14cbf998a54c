"""The overload drill on the user's own server. Law: no key outlives a drill for long."""
