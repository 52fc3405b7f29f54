"""Workers are killed at random moments while tasks run, and every effect is there exactly once."""
