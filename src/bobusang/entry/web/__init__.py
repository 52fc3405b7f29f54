"""The dashboard: pages rendered here, improved by scripts in the browser."""
