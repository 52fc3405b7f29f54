"""Durable workflows on SQL: schedules make jobs, jobs fan out into tasks, workers claim them in batches.

Knows nothing of commerce. Imports only platform and kit.
"""
