"""Real servers for tests and benchmarks: one module a server, each used where it is found or started privately."""
