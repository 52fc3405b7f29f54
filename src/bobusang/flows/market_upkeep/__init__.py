"""Upkeep of what selling leaves behind: old webhooks, bodies of calls, replaced prices, pictures nobody shows."""
