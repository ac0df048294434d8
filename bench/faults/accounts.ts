import { matchesMask } from '#shared/foundation/outbox/definition.ts'
import { type Arrival, arrivalKey } from './receivers.ts'
import type { Tenant } from './tenants.ts'

/** Event that was committed, or answered with 2xx. */
export interface Accepted {
  id: string
  type: string
  installation_id: string
}

/** Event as a poller saw it. */
export interface Seen {
  id: string
  type: string
}

/** Delivery as the API shows it. */
export interface Recorded {
  webhook_id: string
  event_id: string
  status: string
  /** Number of attempts. */
  attempts: number
  /** Error of the latest attempt. */
  error: string | null
}

/** Feed of an installation as polled during the run, and as read afterwards. */
export interface Feed {
  installation_id: string
  polled: readonly Seen[]
  read: readonly Seen[]
}

/** Records that have to agree. */
export interface Books {
  accepted: readonly Accepted[]
  tenants: readonly Pick<Tenant, 'installation_id' | 'subscriptions'>[]
  deliveries: readonly Recorded[]
  arrivals: ReadonlyMap<string, Arrival>
  feeds: readonly Feed[]
}

/** Discrepancy, with its count and first example. */
export interface Discrepancy {
  what: string
  count: number
  example: string
}

export interface Account {
  /** Events that were accepted, and those that the platform emitted by itself. */
  events: number
  own: number
  /** One for each event and each subscription that matches it. */
  expected: number
  delivered: number
  failed: number
  skipped: number
  /** Requests that arrived, and how many of them repeated an accepted one. */
  requests: number
  repeated: number
  discrepancies: Discrepancy[]
}

const EMPTY: Arrival = { requests: 0, taken: 0, firstAfter: 0 }

/** Compares accepted events with their results. */
export const reconcileEvents = ({ accepted, tenants, deliveries, arrivals, feeds }: Books): Account => {
  const found = new Map<string, Discrepancy>()
  const differ = (what: string, example: string) => {
    const known = found.get(what)
    if (known) known.count += 1
    else found.set(what, { what, count: 1, example })
  }
  const isOwn = ({ type }: { type: string }) => !type.startsWith('custom.')
  const own = feeds.flatMap(({ installation_id, read }) =>
    [...new Map(read.filter(isOwn).map((event) => [event.id, event])).values()].map((event) => ({
      ...event,
      installation_id,
    })),
  )
  const events = [...accepted, ...own]

  const records = new Map<string, Recorded>()
  for (const record of deliveries) {
    const key = `${record.webhook_id} ${record.event_id}`
    if (records.has(key)) differ('deliveries recorded twice', key)
    records.set(key, record)
  }

  const account = { delivered: 0, failed: 0, skipped: 0, requests: 0, repeated: 0 }
  const subscriptions = new Map(tenants.map((tenant) => [tenant.installation_id, tenant.subscriptions]))
  const arrived = new Map(arrivals)
  let expected = 0
  for (const { id, type, installation_id } of events) {
    for (const { id: webhook, url, events: masks } of subscriptions.get(installation_id) ?? []) {
      if (!matchesMask(masks, type)) continue
      expected += 1
      const pair = `${webhook} ${id}`
      const record = records.get(pair)
      records.delete(pair)
      const { requests, taken } = arrived.get(arrivalKey(url, id)) ?? EMPTY
      arrived.delete(arrivalKey(url, id))
      account.requests += requests
      account.repeated += Math.max(0, taken - 1)
      if (!record) differ('deliveries lost', pair)
      else if (record.status === 'succeeded') {
        account.delivered += 1
        if (taken === 0) differ('deliveries that succeeded but were never accepted by the receiver', pair)
      } else if (record.status === 'failed') account.failed += 1
      else if (record.status === 'skipped') account.skipped += 1
      else differ('deliveries without an end', `${pair}: ${record.status}`)
    }
  }
  for (const key of records.keys()) differ('deliveries of events that were never accepted', key)
  for (const key of arrived.keys()) differ('requests for events that were never accepted', key)

  for (const feed of feeds) compareFeed(feed, accepted, differ)
  return { events: accepted.length, own: own.length, expected, ...account, discrepancies: [...found.values()] }
}

const compareFeed = (
  { installation_id, polled, read }: Feed,
  accepted: readonly Accepted[],
  differ: (what: string, example: string) => void,
): void => {
  const expected = new Set(accepted.filter((event) => event.installation_id === installation_id).map(({ id }) => id))
  for (const [how, list] of [
    ['polled', polled],
    ['read at the end', read],
  ] as const) {
    const ids = new Set<string>()
    for (const { id, type } of list) {
      if (ids.has(id)) differ(`events twice in a feed, ${how}`, id)
      ids.add(id)
      if (type.startsWith('custom.') && !expected.has(id))
        differ(`events in a feed that were never accepted, ${how}`, id)
    }
    for (const id of expected) if (!ids.has(id)) differ(`events missing in a feed, ${how}`, id)
  }
  const at = polled.findIndex(({ id }, i) => read[i]?.id !== id)
  if (at >= 0 || polled.length !== read.length) {
    const place = at < 0 ? Math.min(polled.length, read.length) : at
    differ('feeds that were polled out of order', `${installation_id}, from event ${place + 1} on`)
  }
}
