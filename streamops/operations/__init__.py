"""Acting: an engine, and one folder for each operation or family. Law: nothing is written that no plan said."""
