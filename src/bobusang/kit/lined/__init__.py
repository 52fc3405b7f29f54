"""Text read together with its lines: YAML or JSON whose mistakes can be pointed at, all at once."""
