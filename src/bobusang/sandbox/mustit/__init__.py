"""MustIt: a JSON API behind guest tokens; lists by seller and by keyword, products in modules, options beside them."""
