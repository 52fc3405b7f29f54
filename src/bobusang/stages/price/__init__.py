"""PRICE: the lowest comparable offer, the full cost, and a price that explains itself or a reason to have none."""
