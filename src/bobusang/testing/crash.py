"""The worker program that crash tests kill: `python -m bobusang.testing.crash URL`."""
