"""Which step follows which: one file or folder a flow. A flow wraps a stage's service as step handlers."""
