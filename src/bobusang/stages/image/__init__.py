"""IMAGE: pictures are fetched once, checked, kept by their content and given a place that stays."""
