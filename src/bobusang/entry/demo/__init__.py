"""The demo shop: a sandbox as a child process, and a shop that is equipped for it; for command line and screen."""
