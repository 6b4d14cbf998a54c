"""One rule a function. Law: a view in, a verdict or none out; the first that speaks decides."""
