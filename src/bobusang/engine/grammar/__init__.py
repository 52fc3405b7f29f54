"""The grammar of workflow definitions: YAML and JSON with lines, mappings with paths, conditions without eval."""
