"""The generic steps of design [E]: FETCH by `url_pattern`, PARSE by `selectors`, STORE as records."""
