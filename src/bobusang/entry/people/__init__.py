"""People who look at the screen: users with password and role, sessions, one-time links, and what they chose."""
