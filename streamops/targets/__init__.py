"""The only room that starts or resizes workers. Law: every write states the number of workers that it was decided on."""
