"""Writes zone-cases.json, with which when.test.ts compares the platform's times.

It shares nothing with the platform: croniter reads the fields, zoneinfo knows the zones, and the rule of clock changes is
carried out by looking at every minute. To repeat it:

    pip install croniter==7.0.0 tzdata && python zone-cases.py > zone-cases.json
"""

import json
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from croniter import croniter

# Expression, zone, time after which it is looked for, days to look at.
CASES = [
    *[
        (cron, zone, after, 3)
        for zone, after in [
            ("Europe/Amsterdam", "2027-03-27T12:00"),
            ("Europe/Amsterdam", "2027-10-30T12:00"),
            ("America/New_York", "2027-03-13T12:00"),
            ("America/New_York", "2027-11-06T12:00"),
            ("Australia/Lord_Howe", "2027-04-03T03:00"),
            ("Australia/Lord_Howe", "2027-10-02T03:00"),
            ("America/Havana", "2027-03-13T12:00"),
            ("America/Havana", "2027-11-06T12:00"),
            ("America/St_Johns", "2027-03-13T12:00"),
            ("Pacific/Chatham", "2027-04-03T03:00"),
            ("Africa/Cairo", "2027-04-29T12:00"),
            ("America/Santiago", "2027-09-04T12:00"),
        ]
        for cron in [
            "30 2 * * *",
            "*/20 2 * * *",
            "0 0 * * *",
            "15 0-3 * * *",
            "30 * * * *",
            "0 */2 * * *",
            "*/30 1,2,3 * * *",
            "0 3 * * 0",
        ]
    ],
    *[
        (cron, zone, after, 3)
        for zone, after in [("Pacific/Apia", "2011-12-29T00:00"), ("Pacific/Kwajalein", "1993-08-19T00:00")]
        for cron in ["0 9 * * *", "30 23 * * *", "0 */6 * * *", "15 * * * *"]
    ],
    ("0 9 * * 1-5", "Asia/Kolkata", "2026-12-01T00:00", 12),
    ("45 8 * * 1", "Asia/Kathmandu", "2026-12-01T00:00", 40),
    ("0 0 29 2 *", "Europe/Berlin", "2026-12-01T00:00", 2000),
    ("0 6 31 * *", "America/Los_Angeles", "2026-12-01T00:00", 400),
    ("0 6 13 * 5", "UTC", "2026-12-01T00:00", 60),
    ("0 6 1-7 * */2", "UTC", "2026-12-01T00:00", 60),
    ("0 6 */10 * 1", "UTC", "2026-12-01T00:00", 120),
    ("0 0 1 JAN,jul MON", "Asia/Tokyo", "2026-12-01T00:00", 250),
    ("5-59/20 4 * * SUN", "Asia/Tokyo", "2026-12-01T00:00", 21),
    ("0 4 * * 7", "Asia/Tokyo", "2026-12-01T00:00", 21),
]

MINUTE = timedelta(minutes=1)
MOST = 40


def matcher(cron):
    fields = cron.split()
    minute, hour, day, month, weekday = [set(values) for values in croniter.expand(cron)[0][:5]]
    either = not fields[2].startswith("*") and not fields[4].startswith("*")

    def allows(values, value):
        return "*" in values or value in values

    def matches(clock):
        on_day = allows(day, clock.day)
        on_weekday = allows(weekday, clock.isoweekday() % 7)
        return (
            allows(minute, clock.minute)
            and allows(hour, clock.hour)
            and allows(month, clock.month)
            and ((on_day or on_weekday) if either else (on_day and on_weekday))
        )

    return matches


def times(cron, zone, after, days):
    matches = matcher(cron)
    hourly = cron.split()[1].startswith("*")
    at = after - timedelta(days=2)
    end = after + timedelta(days=days)
    seen = set()
    found = []
    before = None
    while at <= end and len(found) < MOST:
        clock = at.astimezone(zone).replace(tzinfo=None)
        fires = matches(clock) and (hourly or clock not in seen)
        if before is not None and not hourly:
            skipped = before + MINUTE
            while skipped < clock:
                fires = fires or (matches(skipped) and skipped not in seen)
                skipped += MINUTE
        if fires and at > after:
            found.append(at.strftime("%Y-%m-%dT%H:%MZ"))
        # Clocks that were set back pass the same minutes again.
        seen.add(clock)
        before = clock
        at += MINUTE
        if len(seen) > 10000:
            seen = set(sorted(seen)[-5000:])
    return found


print("[")
lines = []
for cron, zone, after, days in CASES:
    start = datetime.fromisoformat(after).replace(tzinfo=timezone.utc)
    next_times = times(cron, ZoneInfo(zone), start, days)
    assert next_times, (cron, zone)
    lines.append(json.dumps({"cron": cron, "zone": zone, "after": after + "Z", "next": next_times}))
print(",\n".join(lines))
print("]")
