"""Small leaves everything else may use: errors, clock, ids, money, database, log."""
