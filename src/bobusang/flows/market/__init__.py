"""What runs by itself at a market's side: webhooks taking effect, resends, exchange rates, master lists, searches."""
