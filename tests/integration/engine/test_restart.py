"""The database server dies in the middle of the work and comes back; the workers go on by themselves."""
