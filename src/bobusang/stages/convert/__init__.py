"""CONVERT: a source record becomes a product in the market's own words, or is held with reasons."""
