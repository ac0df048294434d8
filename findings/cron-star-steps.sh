#!/usr/bin/env bash
# Subject: croner 11.0.1 and cron-parser 5.10.6 (npm), croniter 7.0.0 (PyPI): `0 9 */2 * MON`, a step over all days of the month
#   beside a weekday.
# Expected: what Vixie cron does, whose days they say they read: a field that begins with * doesn't restrict, so both fields have to
#   match, which are Mondays with an odd day of the month.
# Happens: all three fire on every odd day and on every Monday. croniter does what cron does if implement_cron_bug is set.
# Matters: one line fires twice in January 2027 under cron, and 18 times in a service that moved its crontab into a library. A
#   service that reads cron has to say which it means, and test it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund croner@11.0.1 cron-parser@5.10.6
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check croniter==7.0.0
cat >days.mjs <<'NODE'
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'

const TEXT = '0 9 */2 * MON'
const inJanuary = (next) => {
  const days = []
  for (let at = next(); at.getTime() < Date.UTC(2027, 1, 1); at = next()) days.push(at.getUTCDate())
  return days.join(' ')
}
const cron = new Cron(TEXT, { paused: true, timezone: 'UTC' })
let last = new Date(Date.UTC(2027, 0, 1))
console.log('croner:', inJanuary(() => (last = cron.nextRun(last))))
const parsed = CronExpressionParser.parse(TEXT, { currentDate: new Date(Date.UTC(2027, 0, 1)), tz: 'UTC' })
console.log('cron-parser:', inJanuary(() => parsed.next().toDate()))
NODE
cat >days.py <<'PYTHON'
from datetime import datetime
from croniter import croniter

for name, options in [("croniter", {}), ("croniter, implement_cron_bug", {"implement_cron_bug": True})]:
    times = croniter("0 9 */2 * MON", datetime(2027, 1, 1), **options)
    days = []
    while (at := times.get_next(datetime)) < datetime(2027, 2, 1):
        days.append(str(at.day))
    print(f"{name}:", " ".join(days))
PYTHON
found=$({ node days.mjs; venv/bin/python days.py; })
echo "$found"
either='1 3 4 5 7 9 11 13 15 17 18 19 21 23 25 27 29 31'
both='11 25'
expected="croner: $either
cron-parser: $either
croniter: $either
croniter, implement_cron_bug: $both"
[ "$found" = "$expected" ] || { echo 'changed' >&2; exit 1; }
