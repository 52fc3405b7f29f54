"""Ways to tell people: the log, Slack, e-mail, or several at once."""
