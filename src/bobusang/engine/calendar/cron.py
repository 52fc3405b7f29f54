"""Cron expressions of five fields: read by cronsim, refused in words that name the field."""

from __future__ import annotations

from datetime import datetime

from cronsim import CronSim, CronSimError

from bobusang.kit.errors import Invalid

LONGEST = 100  # the width of crawling_schedules.cron_expression

FIELDS = {
    "minute": "0-59, as 0, 0,30, 0-10 or */5",
    "hour": "0-23, as 2, 9-18 or */6",
    "day-of-month": "1-31, L for the last day, LW for the last weekday",
    "month": "1-12 or JAN-DEC",
    "day-of-week": "0-7 (0 and 7 are Sunday) or SUN-SAT, 1#2 for the second Monday, 5L for the last Friday",
}

_SOME_DAY = datetime(2000, 1, 1)  # noqa: DTZ001 - cronsim is asked about wall-clock time only, which has no zone


def parse(cron: str) -> CronSim:
    """A walk over the wall-clock times an expression names, to be copied and set to where it begins."""
    parts = cron.split()
    if len(cron) > LONGEST or len(parts) != len(FIELDS):
        raise Invalid(
            f"cron '{cron[:LONGEST]}' has {len(parts)} fields in {len(cron)} characters",
            hint=f"write five, {', '.join(FIELDS)}, in at most {LONGEST} characters, as 30 2 * * 1-5",
            field="cron",
        )
    try:
        return CronSim(cron, _SOME_DAY)
    except CronSimError as error:
        raise _explained(cron, parts, str(error).removeprefix("Bad ")) from error


def never_fires(cron: str) -> Invalid:
    """What to say of an expression that is well written and names no day."""
    return Invalid(f"cron '{cron}' never fires", hint="no such day exists; check day-of-month and month", field="cron")


def _explained(cron: str, parts: list[str], name: str) -> Invalid:
    part = dict(zip(FIELDS, parts, strict=True))[name]
    if name == "day-of-month" and _is_a_day(part):
        return never_fires(cron)
    return Invalid(f"cron '{cron}': the {name} '{part}' is not understood", hint=FIELDS[name], field="cron")


def _is_a_day(part: str) -> bool:
    """Whether some month has it; cronsim calls the day bad also when only the named months lack it."""
    try:
        CronSim(f"0 0 {part} * *", _SOME_DAY)
    except CronSimError:
        return False
    return True
