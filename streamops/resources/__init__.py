"""Pure rows and words, shared by every face. Law: text out of here is safe for a terminal, and nothing here prints."""
