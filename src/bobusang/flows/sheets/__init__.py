"""Suppliers' spreadsheets: received, looked through, imported as a job, and taken from a watched folder."""
