import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '#local/platform.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import type { Table } from '#shared/table/table.ts'
import { dice } from '#testkit/dice.ts'
import { type Account, type Recorded, reconcileEvents } from './accounts.ts'
import { patientClient } from './client.ts'
import { createClocks } from './clock.ts'
import { limitConcurrency } from './concurrency.ts'
import type { Kind } from './kinds.ts'
import { produce } from './producers.ts'
import { type Arrival, startReceivers } from './receivers.ts'
import { type DeadLetters, deadLettersOf, type KindResult, perKind } from './results.ts'
import { createTally } from './tally.ts'
import { createTenant, type Tenant } from './tenants.ts'
import { type DueWatch, enableDisabled, pollFeed, readDeliveries, readFeed, watchDue } from './watchers.ts'
import { startFaults, type Weather } from './weather.ts'

/** Retry delays in seconds, short so that a run ends. There are as many attempts. */
export const RETRY_DELAYS = '1,2,4'

/** Faults to cause, and their extent. */
export interface Play extends Weather {
  events: number
  /** Seed of the random faults. It doesn't determine their timing. */
  seed: number
  tenants: number
  kinds: readonly Kind[]
  pollEveryMs: number
  /** Interval at which disabled subscriptions are enabled, in ms. */
  enableEveryMs: number
  /** Moves the clocks forwards and calls the sweeper while it waits for the end, instead of waiting for both. */
  hurry?: boolean
  /** Reports progress. */
  progress?: (line: string) => void
}

export interface Played {
  account: Account
  overHttp: number
  /** Faults that were caused, and how often. */
  tally: [string, number][]
  /** Requests that clients had to repeat. */
  repeated: [string, number][]
  due: Pick<DueWatch, 'samples' | 'maxOverdueMs' | 'maxOverdue'>
  enabled: number
  arrivals: Arrival[]
  deliveries: Recorded[]
  byKind: KindResult[]
  deadLetters: DeadLetters[]
  /** Durations, from the first event. */
  seconds: { told: number; faults: number; settled: number }
}

const REPORT_EVERY = 15 * SECOND
const SETTLED_WITHIN = 15 * MINUTE
/** Longest wait for busy receivers: one that hangs holds its delivery for ten seconds. */
const BUSY_AT_MOST = 12 * SECOND

/** Plays the faults. @param table client of the platform's table without faults */
export const runFaults = async (platform: Platform, table: Table, options: Play): Promise<Played> => {
  const { events, kinds, seed, progress = () => undefined } = options
  const roll = dice(seed)
  const tally = createTally()
  const clocks = createClocks(platform, roll.fork(), tally)
  const receivers = await startReceivers(kinds, clocks.since)
  const stops: (() => unknown)[] = [() => receivers.close()]
  try {
    const call = patientClient(platform.baseUrl)
    const tenants: Tenant[] = []
    for (let i = 0; i < options.tenants; i++) tenants.push(await createTenant(call, receivers, kinds, i))
    const fanningOut = limitConcurrency(platform, 'fan-out')
    const delivering = limitConcurrency(platform, 'delivery')
    const endFaults = startFaults(platform, options, { roll, tally, clocks })
    stops.push(endFaults)
    const reached = new Set<string>()
    // The outermost interceptor, which counts what the queue delivered before faults apply.
    const uncount = platform.intercept('fan-out', (event, next) => {
      for (const { body } of (event as { Records: { body: string }[] }).Records) {
        const { event_id, detail } = JSON.parse(body)
        reached.add(event_id ?? detail.id)
      }
      return next(event)
    })
    stops.push(uncount)

    const began = performance.now()
    const passed = () => (performance.now() - began) / SECOND
    let told = 0
    let over = false
    const due = watchDue(table, clocks)
    const watching = due.run(() => over)
    const polling = tenants.map((tenant) => pollFeed(call, tenant, options.pollEveryMs, () => over))
    const enabling = enableNowAndThen(call, tenants, options.enableEveryMs, () => over)
    const report = setInterval(() => {
      const { visible, inFlight, delayed } = platform.queue('delivery').counts()
      progress(
        `${passed().toFixed(0)} s: ${told} accepted, ${reached.size} reached the fan-out, ${receivers.arrivals.size} arrived; ` +
          `deliveries: ${visible} waiting, ${inFlight} in flight, ${delayed} delayed; ` +
          `overdue at most ${Math.round(due.maxOverdueMs / SECOND)} s`,
      )
    }, REPORT_EVERY)
    stops.push(() => clearInterval(report))

    /** Counts events that haven't left the fan-out, and deliveries that wait for a worker or are in progress. */
    const backlog = () =>
      Math.max(0, told - reached.size) + fanningOut() + platform.queue('delivery').counts().visible + delivering()
    const onAccepted = (count: number) => {
      told += count
    }
    const production = { events, tenants, kinds, call, table, clock: clocks, backlog, onAccepted, roll: roll.fork() }
    const { accepted, overHttp } = await produce(production)
    const seconds = { told: passed(), faults: 0, settled: 0 }
    await untilZero(backlog, MINUTE)
    await endFaults()
    seconds.faults = passed()
    progress(`${seconds.faults.toFixed(0)} s: all is accepted and on its way; the faults end`)

    const hurryOn = async () => {
      await untilZero(backlog, BUSY_AT_MOST)
      clocks.jump(MINUTE)
      await platform.fire('sweeper')
    }
    await untilSettled(due.sample, options.hurry ? hurryOn : () => pause(2 * SECOND))
    seconds.settled = passed()
    over = true
    clearInterval(report)
    await watching
    const enabled = await enabling
    progress(`${seconds.settled.toFixed(0)} s: nothing is due any more`)

    const polled = await Promise.all(polling)
    const read = await Promise.all(tenants.map((tenant) => readFeed(call, tenant)))
    const deliveries = (await Promise.all(tenants.map((tenant) => readDeliveries(call, tenant)))).flat()
    const feeds = tenants.map(({ installation_id }, i) => ({
      installation_id,
      polled: polled[i] ?? [],
      read: read[i] ?? [],
    }))
    const { arrivals } = receivers
    return {
      account: reconcileEvents({ accepted, tenants, deliveries, arrivals, feeds }),
      overHttp,
      tally: tally.rows(),
      repeated: [...call.repeated],
      due,
      enabled,
      arrivals: [...arrivals.values()],
      deliveries,
      byKind: perKind(kinds, tenants, deliveries, arrivals),
      deadLetters: await deadLettersOf(platform),
      seconds,
    }
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

/** Enables disabled subscriptions at intervals. @returns the number of enabled subscriptions */
const enableNowAndThen = async (
  call: ReturnType<typeof patientClient>,
  tenants: readonly Tenant[],
  everyMs: number,
  isOver: () => boolean,
): Promise<number> => {
  let enabled = 0
  for (let next = performance.now() + everyMs; !isOver(); ) {
    await pause(100)
    if (performance.now() < next) continue
    for (const tenant of tenants) enabled += await enableDisabled(call, tenant)
    next = performance.now() + everyMs
  }
  return enabled
}

/** Waits until nothing is due, now or later. @param meanwhile waits between two checks, or helps */
const untilSettled = async (isDue: () => Promise<boolean>, meanwhile: () => Promise<unknown>): Promise<void> => {
  const until = performance.now() + SETTLED_WITHIN
  while ((await isDue()) && performance.now() < until) await meanwhile()
}

/** Waits until the count was zero for a moment, or the time is over. */
const untilZero = async (count: () => number, withinMs: number): Promise<void> => {
  const until = performance.now() + withinMs
  for (let quiet = 0; quiet < 5 && performance.now() < until; quiet = count() === 0 ? quiet + 1 : 0) await pause(100)
}
