"""Upkeep: the duties that keep the engine going, one short file each. None of them is itself a job."""
