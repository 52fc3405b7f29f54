"""Domeggook's Open API as it answers: everything at one address, errors inside HTTP 200, numbers and JSON as texts."""
