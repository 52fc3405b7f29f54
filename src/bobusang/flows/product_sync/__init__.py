"""The product sync of design [C]: suppliers collected, their goods normalised, enriched and carried to the markets."""
