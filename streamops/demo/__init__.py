"""A server and a live sample workload to look at. Law: nothing here is needed by a production command."""
