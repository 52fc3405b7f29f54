"""COLLECT: what a source asks for is fetched politely, archived, read, guarded and handed to the catalog."""
