"""COLLECT as a flow: plan, list pages, items, and the closing that proves what was seen."""
