"""Search in the data folder (tantivy): nothing to install, nothing to run."""

from bobusang.platform.searches.embedded.index import EmbeddedSearch

__all__ = ["EmbeddedSearch"]
