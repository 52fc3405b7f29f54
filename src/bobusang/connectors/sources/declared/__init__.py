"""Declared sources: a shop is a folder with `shop.yaml`, fixtures and perhaps hooks, compiled to a `Source`.

`shop.load_shop` compiles one, `shelf.shops` finds them, `when.parse_when` reads the conditions of their asks,
`fixture` records and replays pages, `scaffold.new_shop` begins a new one. The grammar is that of `shop.yaml`:
a field is `engine:path | filter | filter`, or a list of such that are tried in turn.
"""
