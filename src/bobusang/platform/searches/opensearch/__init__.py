"""The index in OpenSearch: the same tokens as the embedded one, `nori` beside them when the server has it."""
