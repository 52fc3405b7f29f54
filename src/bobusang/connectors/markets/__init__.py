"""Markets: where we sell."""
