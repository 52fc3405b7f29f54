"""Where products are searched: an index in the data folder, or OpenSearch, chosen by one address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.platform.search import SETTING

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.platform.search import Search

KNOWN = ("opensearch", "opensearch+https")


def opened(url: str, *, folder: Path) -> Search:
    """The index at an address: `opensearch://host:9200/prefix`, or empty: in `folder`.

    Nothing is reached yet: `check` does that. A wrong address raises Invalid, naming the setting.
    """
    if not url:
        from bobusang.platform.searches.embedded import EmbeddedSearch

        return EmbeddedSearch(folder)
    scheme = url.partition("://")[0]
    if scheme not in KNOWN:
        hint = did_you_mean(scheme, KNOWN)
        raise Invalid(f"{SETTING}: no index is called {scheme}", hint=hint, field="search_url")
    return _opensearch(url)


def _opensearch(url: str) -> Search:
    try:
        from bobusang.platform.searches.opensearch.index import OpenSearch
    except ModuleNotFoundError as error:
        raise Invalid(
            f"{SETTING} names an OpenSearch, but {error.name} is not installed",
            hint="pip install 'bobusang[opensearch]'",
            field="search_url",
        ) from error
    return OpenSearch(url)
