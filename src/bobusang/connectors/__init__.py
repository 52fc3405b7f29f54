"""The outside world: sources that are read and markets that are written to."""
