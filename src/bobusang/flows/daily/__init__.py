"""The daily crawl of a source as design [D] draws it: crawl, then validate, then load."""
