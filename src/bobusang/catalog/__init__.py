"""The versioned truth: source records and their history, lineage, products, sellers, mappings."""
