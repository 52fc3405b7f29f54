"""Malls on loopback: one seeded world that ages by its own clock, with real paths, quirks and faults on demand."""
