"""Ownerclan's seller API as it answers: a login that gives a bare JWT, and GraphQL whose errors come with HTTP 200."""
