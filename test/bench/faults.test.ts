import { describe, expect, it } from 'vitest'
import { type Books, reconcileEvents } from '#bench/faults/accounts.ts'
import { createClocks } from '#bench/faults/clock.ts'
import { type Arrival, arrivalKey } from '#bench/faults/receivers.ts'
import { holds } from '#bench/faults/tables.ts'
import { createTally } from '#bench/faults/tally.ts'
import { dice } from '#testkit/dice.ts'

const URL = 'http://127.0.0.1:1/0'
const type = 'custom.well'
const kind = { name: 'well', weight: 1, ends: 'delivered' as const }
const recorded = (event_id: string, status = 'succeeded') => ({
  webhook_id: 'whk',
  event_id,
  status,
  attempts: 1,
  error: null,
})
const seen = (...ids: string[]) => ids.map((id) => ({ id, type }))
const taken: Arrival = { requests: 1, taken: 1, firstAfter: 5 }

/** Three events, each delivered once, in the feed order 2, 1, 3. */
const books = (changes: Partial<Books> = {}): Books => ({
  accepted: ['1', '2', '3'].map((id) => ({ id, type, installation_id: 'ins' })),
  tenants: [{ installation_id: 'ins', subscriptions: [{ id: 'whk', url: URL, events: ['custom.well'], kind }] }],
  deliveries: ['1', '2', '3'].map((id) => recorded(id)),
  arrivals: new Map(['1', '2', '3'].map((id) => [arrivalKey(URL, id), taken])),
  feeds: [{ installation_id: 'ins', polled: seen('2', '1', '3'), read: seen('2', '1', '3') }],
  ...changes,
})
const found = (changes: Partial<Books>) => reconcileEvents(books(changes)).discrepancies.map(({ what }) => what)
const feed = (polled: ReturnType<typeof seen>, read = polled) => ({ feeds: [{ installation_id: 'ins', polled, read }] })

describe('the accounts of a fault run', () => {
  it('balance when each event is delivered, failed or skipped, and once in its feed', () => {
    const deliveries = [recorded('1'), recorded('2', 'failed'), recorded('3', 'skipped')]
    const arrivals = new Map([[arrivalKey(URL, '1'), { requests: 3, taken: 2, firstAfter: 5 }]])
    expect(reconcileEvents(books({ deliveries, arrivals }))).toEqual({
      events: 3,
      own: 0,
      expected: 3,
      delivered: 1,
      failed: 1,
      skipped: 1,
      requests: 3,
      repeated: 1,
      discrepancies: [],
    })
  })

  it('include events that the platform emits itself', () => {
    const own = { id: '4', type: 'webhook.disabled' }
    const tenants = books().tenants.map((tenant) => ({
      ...tenant,
      subscriptions: tenant.subscriptions.map((one) => ({ ...one, events: ['*'] })),
    }))
    const account = reconcileEvents(books({ tenants, ...feed([...seen('2', '1', '3'), own]) }))
    expect(account).toMatchObject({ own: 1, expected: 4, delivered: 3 })
    expect(account.discrepancies).toEqual([{ what: 'deliveries lost', count: 1, example: 'whk 4' }])
  })

  it.each<[string, Partial<Books>, string[]]>([
    ['a delivery that was lost', { deliveries: [recorded('1'), recorded('3')] }, ['deliveries lost']],
    [
      'a delivery without an end',
      { deliveries: [recorded('1'), recorded('2', 'pending'), recorded('3')] },
      ['deliveries without an end'],
    ],
    [
      'a delivery recorded twice',
      { deliveries: [...books().deliveries, recorded('2')] },
      ['deliveries recorded twice'],
    ],
    [
      'a delivery of an event that was never accepted',
      { deliveries: [...books().deliveries, recorded('9')] },
      ['deliveries of events that were never accepted'],
    ],
    [
      'a successful delivery that never arrived',
      { arrivals: new Map(['1', '2'].map((id) => [arrivalKey(URL, id), taken])) },
      ['deliveries that succeeded but were never accepted by the receiver'],
    ],
    [
      'a request for an event that was never accepted',
      { arrivals: new Map([...books().arrivals, [arrivalKey(URL, '9'), taken]]) },
      ['requests for events that were never accepted'],
    ],
    [
      'a gap in the polled events',
      feed(seen('2', '3'), seen('2', '1', '3')),
      ['events missing in a feed, polled', 'feeds that were polled out of order'],
    ],
    [
      'a gap in the feed',
      feed(seen('2', '3')),
      ['events missing in a feed, polled', 'events missing in a feed, read at the end'],
    ],
    [
      'an event twice in a feed',
      feed(seen('2', '1', '1', '3')),
      ['events twice in a feed, polled', 'events twice in a feed, read at the end'],
    ],
    [
      'an event in a feed that was never accepted',
      feed(seen('2', '1', '3', '9')),
      [
        'events in a feed that were never accepted, polled',
        'events in a feed that were never accepted, read at the end',
      ],
    ],
    [
      'another order in the polled events',
      feed(seen('1', '2', '3'), seen('2', '1', '3')),
      ['feeds that were polled out of order'],
    ],
  ])('report %s', (_what, changes, expected) => {
    expect(found(changes)).toEqual(expected)
  })

  it('don’t balance with a discrepancy, a differing sum, or work overdue for more than two minutes', () => {
    const account = reconcileEvents(books())
    const due = { samples: 1, maxOverdueMs: 120_000, maxOverdue: '' }
    expect(holds({ account, due })).toBe(true)
    expect(holds({ account, due: { ...due, maxOverdueMs: 120_001 } })).toBe(false)
    expect(holds({ account: { ...account, delivered: 2 }, due })).toBe(false)
    expect(holds({ account: reconcileEvents(books({ deliveries: [] })), due })).toBe(false)
  })
})

it('time that a jump of the clocks skipped doesn’t count as elapsed', () => {
  const shifted: number[] = []
  const platform = { model: { functions: [{ name: 'one' }] }, shiftClock: (ms: number) => shifted.push(ms) }
  const clocks = createClocks(platform as never, dice(1), createTally())
  const before = clocks.now() - 1_000
  clocks.jump(120_000)
  const inside = before + 60_000
  clocks.jump(-30_000)
  expect(shifted).toEqual([120_000, 90_000])
  expect(clocks.now() - before).toBeGreaterThanOrEqual(91_000)
  for (const [time, least] of [
    [before, 1_000],
    [inside, 0],
  ] as const) {
    expect(clocks.since(time)).toBeGreaterThanOrEqual(least)
    expect(clocks.since(time)).toBeLessThan(60_000)
  }
})

it('dice of one seed roll the same, whatever their forks do', () => {
  const throws = (forked: number) => {
    const roll = dice(7)
    const fork = roll.fork()
    for (let i = 0; i < forked; i++) fork.below(6)
    return Array.from({ length: 5 }, () => roll.below(6))
  }
  expect(throws(3)).toEqual(throws(0))
})
