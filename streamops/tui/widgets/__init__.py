"""Lists, texts, bars and prompts: what screens are made of. Law: a widget knows nothing of streams."""
