"""Musinsa: JSON in envelopes on hosts of their own; options without stock, and the stock by asking for it."""
