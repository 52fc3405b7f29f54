"""OKmall: server HTML with JSON-LD, lists of 80 by brand or category, pages of products, an index of brands."""
