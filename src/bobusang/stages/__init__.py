"""The verbs, one folder each; none knows another, and none knows the engine."""
