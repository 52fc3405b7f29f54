"""The shops that come with the program, a folder each."""
