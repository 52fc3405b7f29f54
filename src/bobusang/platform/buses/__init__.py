"""Ways to reach subscribers: in this process, and by signed HTTP."""
