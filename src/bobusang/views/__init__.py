"""Read models that join over owners, for doors only; they never write, and every list is bounded."""
