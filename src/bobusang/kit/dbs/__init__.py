"""The databases behind `kit.db`: SQLite, PostgreSQL, MariaDB."""
