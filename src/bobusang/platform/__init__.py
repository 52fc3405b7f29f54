"""Infrastructure contracts (singular) and their choices (plural): bus, notifier, and the audit log."""
