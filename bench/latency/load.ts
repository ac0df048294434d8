import { setTimeout as pause } from 'node:timers/promises'
import type { Receiver } from '#testkit/receiver.ts'
import type { Client, Tenant } from './setup.ts'

export interface Load {
  seconds: number
  /** Runs per second and tenant. At most 10 are allowed. */
  runsPerSecond: number
}

/** Times from the commit in the record to the request's arrival, in milliseconds. */
export interface Latencies {
  runs: number
  dispatch: number[]
  deliveries: number[]
  /** Requests and deliveries that didn't arrive. */
  lost: number
}

/** Events of a run: its creation and its end. */
const EVENTS_PER_RUN = 2
const PATIENCE_MS = 30_000

/**
 * Starts work at an even rate, without waiting for earlier work, and then waits until all has ended.
 *
 * @param work gets its number, from 0
 */
export const evenly = async (
  { seconds, perSecond }: { seconds: number; perSecond: number },
  work: (n: number) => Promise<void>,
): Promise<void> => {
  const pending: Promise<void>[] = []
  const began = performance.now()
  for (let n = 0; n < Math.round(seconds * perSecond); n++) {
    await pause(Math.max(0, began + (n * 1_000) / perSecond - performance.now()))
    pending.push(work(n))
  }
  await Promise.all(pending)
}

/** Returns the milliseconds from each run's creation to its request at the agent. */
export const dispatchTimes = (agent: Receiver, created: ReadonlyMap<string, number>): number[] =>
  agent.requests.map(({ body, at }) => at - (created.get(JSON.parse(body.toString()).run.id) ?? Number.NaN))

/** Returns the milliseconds from each event to its webhook at the receiver. */
export const deliveryTimes = ({ requests }: Pick<Receiver, 'requests'>): number[] =>
  requests.map(({ body, at }) => at - Date.parse(JSON.parse(body.toString()).created_at))

/** Starts runs at an even rate and waits until all their requests have arrived. */
export const applyLoad = async (
  call: Client,
  agent: Receiver,
  tenants: readonly Tenant[],
  { seconds, runsPerSecond }: Load,
): Promise<Latencies> => {
  const receivers = tenants.flatMap((tenant) => tenant.receivers)
  for (const one of [agent, ...receivers]) one.requests.length = 0
  const created = new Map<string, number>()
  const start = async ({ headers }: Tenant): Promise<void> => {
    const run = await call('POST', '/api/v1/runs', headers, { input: { name: 'Ada' }, trigger: 'bench' })
    created.set(run.id, Date.parse(run.created_at))
  }
  await evenly({ seconds, perSecond: runsPerSecond * tenants.length }, (n) =>
    start(tenants[n % tenants.length] as Tenant),
  )
  const expected =
    created.size +
    tenants.reduce((sum, { receivers: all }) => sum + all.length, 0) * (created.size / tenants.length) * EVENTS_PER_RUN
  const arrived = () => agent.requests.length + receivers.reduce((sum, { requests }) => sum + requests.length, 0)
  for (const until = Date.now() + PATIENCE_MS; arrived() < expected && Date.now() < until; ) await pause(50)
  return {
    runs: created.size,
    dispatch: dispatchTimes(agent, created),
    deliveries: receivers.flatMap(deliveryTimes),
    lost: Math.max(0, expected - arrived()),
  }
}
