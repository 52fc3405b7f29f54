"""The corner shop: all of it stands in the `shop.yaml` beside this file."""
