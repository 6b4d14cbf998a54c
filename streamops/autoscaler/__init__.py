"""Controllers of worker pools. Law: the policy decides and is pure; here is read, asked for, written down, and nothing judged."""
