"""The long versions of the crash tests, run by `make soak`."""
