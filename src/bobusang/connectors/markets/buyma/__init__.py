"""BUYMA's Personal Shopper API: 201 only means accepted, the verdict comes by webhook, and nothing can be read back."""
