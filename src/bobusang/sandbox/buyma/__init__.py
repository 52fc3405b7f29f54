"""BUYMA as a personal shopper meets it: the API, its webhooks, its master lists, its search page."""
