"""Webhooks of suppliers: stored as they come, then read by the engine and saved as pages are."""
