"""REGISTER: the wanted listing against the last confirmed one, sent within guards and budget, and confirmed."""
