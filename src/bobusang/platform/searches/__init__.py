"""Where products are searched: an index in the data folder, or OpenSearch, chosen by one address."""
