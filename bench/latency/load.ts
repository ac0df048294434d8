import { setTimeout as pause } from 'node:timers/promises'
import type { Receiver } from '#test/support/receiver.ts'
import type { Client, Tenant } from './setup.ts'

export interface Load {
  seconds: number
  /** Runs a second for each tenant; at most 10 are let through. */
  runsPerSecond: number
}

/** From the commit's time in the record to the request's arrival, in milliseconds. */
export interface Latencies {
  runs: number
  dispatch: number[]
  deliveries: number[]
  /** Requests and deliveries that should have arrived and did not. */
  lost: number
}

/** A run tells of its creation and of its end. */
const EVENTS_PER_RUN = 2
const PATIENCE_MS = 30_000

/** Starts runs evenly over the time and waits until all that follows has arrived. */
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
  const pending: Promise<void>[] = []
  const began = performance.now()
  const interval = 1_000 / runsPerSecond
  for (let i = 0; i < seconds * runsPerSecond; i++) {
    for (const [at, tenant] of tenants.entries()) {
      const due = began + (i + at / tenants.length) * interval
      await pause(Math.max(0, due - performance.now()))
      pending.push(start(tenant))
    }
  }
  await Promise.all(pending)
  const expected =
    created.size +
    tenants.reduce((sum, { receivers: all }) => sum + all.length, 0) * (created.size / tenants.length) * EVENTS_PER_RUN
  const arrived = () => agent.requests.length + receivers.reduce((sum, { requests }) => sum + requests.length, 0)
  for (const until = Date.now() + PATIENCE_MS; arrived() < expected && Date.now() < until; ) await pause(50)
  return {
    runs: created.size,
    dispatch: agent.requests.map(
      ({ body, at }) => at - (created.get(JSON.parse(body.toString()).run.id) ?? Number.NaN),
    ),
    deliveries: receivers.flatMap(({ requests }) =>
      requests.map(({ body, at }) => at - Date.parse(JSON.parse(body.toString()).created_at)),
    ),
    lost: Math.max(0, expected - arrived()),
  }
}
