"""The generator: a page, a saved file or a curl command becomes a proposed shop, with how sure each part of it is."""
