"""The conveyor of design [A]: batches of brands, each brand through five stages, told in tables that never lie."""
