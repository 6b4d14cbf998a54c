"""Configuration. Law: the only room that reads TOML and environment; it hands plain options to the rooms below and the faces."""
