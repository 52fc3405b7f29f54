"""What tests of this package, and of packages that stand on it, need: a clock, a workshop, conformance suites."""
