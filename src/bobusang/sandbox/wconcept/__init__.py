"""W Concept: JSON lists behind a public key that a page shows, and product pages of an older shop."""
