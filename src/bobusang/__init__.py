"""Bobusang (보부상): carries products from any mall to any market."""

__version__ = "0.1.0"
