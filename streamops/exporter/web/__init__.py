"""The HTTP face. Law: it says what the scraper read, and reads nothing itself; who may ask is ``process.web``'s affair."""
