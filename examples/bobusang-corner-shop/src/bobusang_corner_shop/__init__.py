"""Two shops for Bobusang: `corner` in shop.yaml, `counter` in Python."""
