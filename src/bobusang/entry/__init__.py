"""The doors: they translate, they never decide."""
