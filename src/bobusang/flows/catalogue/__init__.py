"""The catalogue as people and programs change it: products written, edited, locked, taken away."""
