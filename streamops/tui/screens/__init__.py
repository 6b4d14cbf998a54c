"""The screens. Law: each is given a moment and posts messages up; none opens another or reads for itself."""
