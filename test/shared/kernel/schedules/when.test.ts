import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readCron } from '#shared/kernel/schedules/cron.ts'
import { nextTime, readDuration, type When } from '#shared/kernel/schedules/when.ts'

interface Case {
  cron: string
  zone: string
  after: string
  next: string[]
}

const cases: Case[] = JSON.parse(readFileSync(new URL('zone-cases.json', import.meta.url), 'utf8'))

const short = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`

const times = (when: When, after: string, count: number): string[] => {
  const since = Date.parse(after)
  const found: number[] = []
  for (let at = nextTime(when, since, since); at !== undefined && found.length < count; at = nextTime(when, since, at))
    found.push(at)
  return found.map(short)
}

describe('a cron expression in a zone', () => {
  it.each(cases)('fires when another library says: $cron in $zone after $after', ({ cron, zone, after, next }) => {
    expect(times({ cron, time_zone: zone }, after, next.length)).toEqual(next)
  })

  it.each([
    ['daily at a time that a change skips: once, at the first moment after it', '30 2 * * *', '2027-03-28T01:00Z'],
    ['several skipped times: once', '*/10 2 * * *', '2027-03-28T01:00Z'],
    ['skipped times and the moment after them: once', '30 2,3 * * *', '2027-03-28T01:00Z'],
    ['a time that comes twice: at its first pass', '30 2 * * *', '2027-10-31T00:30Z'],
  ])('fires %s', (_rule, cron, at) => {
    const day = at.slice(0, 10)
    const fired = times({ cron, time_zone: 'Europe/Amsterdam' }, `${day}T00:00Z`, 9).filter(
      (time) => time < `${day}T01:30Z`,
    )
    expect(fired).toEqual([at])
  })

  it('fires every hour through both changes, whose missing hour it omits and whose repeated hour it runs twice', () => {
    const when = { cron: '30 * * * *', time_zone: 'Europe/Amsterdam' }
    const hours = (day: string) => ['00', '01', '02'].map((hour) => `${day}T${hour}:30Z`)
    expect(times(when, '2027-03-28T00:00Z', 3)).toEqual(hours('2027-03-28'))
    expect(times(when, '2027-10-31T00:00Z', 3)).toEqual(hours('2027-10-31'))
  })

  it.each([
    '* * * *',
    '* * * * * *',
    '@daily',
    '61 * * * *',
    '* 24 * * *',
    '0 0 0 * *',
    '0 0 * 13 *',
    '0 0 * * 8',
    '*/0 * * * *',
    '30-10 * * * *',
    '5/20 * * * *',
    '0 0 ? * 1',
    '0 0 L * *',
    '0 0 1W * *',
    'a b c d e',
    '',
  ])('is refused with a reason: %j', (cron) => {
    expect(readCron(cron)).toEqual(expect.any(String))
  })

  it.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *'])('that never fires is refused as such: %s', (cron) => {
    expect(readCron(cron)).toMatch(/never fires/)
  })
})

/** Rules of the Open Cron Pattern Specification 1.0 and 1.4, whose suggestion to skip what a clock change skips isn't followed. */
describe('a cron expression agrees with OCPS 1.4', () => {
  it.each([
    [
      '1.0 §4.1: blanks around and between fields count as one',
      '  0\t 12  1   1 *  ',
      ['2027-01-01T12:00Z', '2028-01-01T12:00Z'],
    ],
    ['1.0 §4.2: names in any case, of months', '0 0 1 jan,Feb *', ['2027-02-01T00:00Z', '2028-01-01T00:00Z']],
    ['1.0 §4.2: names in any case, of weekdays', '0 0 * * mOn-tUE', ['2027-01-04T00:00Z', '2027-01-05T00:00Z']],
    ['1.0 §4.2: 0 is Sunday', '0 0 * * 0', ['2027-01-03T00:00Z', '2027-01-10T00:00Z']],
    ['1.0 §4.2: 7 is Sunday', '0 0 * * 7', ['2027-01-03T00:00Z', '2027-01-10T00:00Z']],
    [
      '1.0 §5: a step begins at the start of its range',
      '5-59/15 0 2 1 *',
      ['2027-01-02T00:05Z', '2027-01-02T00:20Z', '2027-01-02T00:35Z', '2027-01-02T00:50Z'],
    ],
    [
      '1.0 §5.1: a list is the union of its parts',
      '0,5-7,*/30 0 2 1 *',
      ['2027-01-02T00:00Z', '2027-01-02T00:05Z', '2027-01-02T00:06Z', '2027-01-02T00:07Z', '2027-01-02T00:30Z'],
    ],
    ['1.0 §6.1, 1.4 §4.1: either of two restricted days', '0 12 1 * MON', ['2027-01-01T12:00Z', '2027-01-04T12:00Z']],
    ['1.4 §4.3: the range of years', '0 0 29 2 *', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
  ])('%s', (_rule, cron, next) => {
    expect(times({ cron, time_zone: 'UTC' }, '2027-01-01T06:00Z', next.length)).toEqual(next)
  })

  it.each([
    ['1.0 §4.1: another number of fields', '* * * *'],
    ['1.0 §4.3: another character', '0 0 L * *'],
    ['1.0 §6.2: a value out of range', '60 0 * * *'],
    ['1.0 §6.2: a day out of range', '0 0 32 * *'],
    ['1.0 §6.2: a range that ends before it begins', '0 17-9 * * *'],
    ['1.0 §6.2: a step of 0', '*/0 * * * *'],
    ['1.0 §6.2: a step after nothing', '/30 * * * *'],
    ['1.0 §6.2: a step after one value', '0/15 * * * *'],
    ['1.4 §4.1.2: + elsewhere than before weekdays', '+0 12 1 * *'],
    ['1.4 §4.2: ? outside of days', '? * * * *'],
  ])('refuses %s', (_rule, cron) => {
    expect(readCron(cron)).toEqual(expect.any(String))
  })
})

describe('an interval', () => {
  it('is elapsed time, whatever clocks do', () => {
    expect(times({ every: 'P1D' }, '2027-03-27T12:00Z', 3)).toEqual([
      '2027-03-28T12:00Z',
      '2027-03-29T12:00Z',
      '2027-03-30T12:00Z',
    ])
  })

  it.each([
    ['PT1M', 60_000],
    ['PT90M', 5_400_000],
    ['P1DT2H', 93_600_000],
    ['P1W', 604_800_000],
    ['PT60S', 60_000],
  ])('is read: %s', (text, ms) => {
    expect(readDuration(text)).toBe(ms)
  })

  it.each(['PT59S', 'P1M', 'P1Y', 'PT', 'P', 'PT0M', '1h', 'P1H', 'PT1.5H', 'P9999W', '-PT1H'])(
    'that is too short, too long or no duration is refused: %s',
    (text) => {
      expect(readDuration(text)).toBeUndefined()
    },
  )
})

describe('a moment', () => {
  it('comes once', () => {
    expect(times({ at: '2027-03-27T12:00:00Z' }, '2027-03-27T11:00Z', 5)).toEqual(['2027-03-27T12:00Z'])
    expect(times({ at: '2027-03-27T12:00:00Z' }, '2027-03-27T12:00Z', 5)).toEqual([])
  })
})
