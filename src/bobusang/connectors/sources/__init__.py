"""Sources: what a mall or supplier is asked, and how its pages are read."""
