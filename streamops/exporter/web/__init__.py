"""The HTTP face. Law: it says what the scraper read, and reads nothing itself; ``service.authentication`` decides who may ask."""
