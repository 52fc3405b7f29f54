"""The calendar of schedules: cron and zones, fires that were missed or overlap, rhythms that learn. All of it pure."""
