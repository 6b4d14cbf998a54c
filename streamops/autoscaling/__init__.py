"""Worker counts that follow the work. Law: the policy decides and is pure; the controller reads, asks and writes down."""
