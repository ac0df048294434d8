import { QUEUES } from '#shared/foundation/queues/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { total, type Usage } from '../cost/usage.ts'
import { ASSUMED, millisecondsOf, type Sources, usesOf } from '../cost.ts'
import { BATCH } from '../endpoints/workers.ts'
import { AWS_QUOTAS, type Quota, sharded, stageThrottle, workersOf } from './quotas.ts'

/** Work per event: it is one of a run’s two, is delivered to one webhook, and comes with two calls of an integration. */
export const PER_EVENT = { runs: 0.5, deliveries: 1, calls: 2 } as const

/** Number of pollers with which Lambda starts to read a queue. Each gathers its own batch. */
const POLLERS = 5

/** Returns true if the statistics' batches contain as many runs as the measured one. */
const isBusy = (events: number): boolean =>
  (events * PER_EVENT.runs * (QUEUES.statistics.windowSeconds ?? 0)) / POLLERS >= BATCH.ended

/** Computes the usage of a second with this many events. */
export const secondOf = (sources: Sources, events: number): Usage => {
  const { call, run, busyRun, delivery } = usesOf(sources)
  return total(
    [call, events * PER_EVENT.calls],
    [isBusy(events) ? busyRun : run, events * PER_EVENT.runs],
    [delivery, events * PER_EVENT.deliveries],
  )
}

/** Settings of a stage that are limits. */
export interface Limits {
  throttle: number
  shards: number
  dueShards: number
}

export interface Need {
  quota: Quota
  needed: number
}

/** Computes the use of every quota by a load, scarcest first. */
export const needsOf = (sources: Sources, events: number, { throttle, shards, dueShards }: Limits): Need[] => {
  const second = secondOf(sources, events)
  const queues = messagesOf(events).map(({ queue, message, rate, together, outsideMs }) => {
    const messages = (rate * millisecondsOf(sources, message, outsideMs)) / 1_000
    return { quota: workersOf(queue, QUEUES[queue].maxConcurrency), needed: messages / together, messages }
  })
  const apiSeconds = (second.apiRequests * API_MS) / 1_000
  const needs: Need[] = [
    { quota: stageThrottle(throttle), needed: second.apiRequests },
    { quota: AWS_QUOTAS.apiRequests, needed: second.apiRequests },
    { quota: AWS_QUOTAS.executions, needed: apiSeconds + sum(queues.map(({ needed }) => needed)) },
    { quota: AWS_QUOTAS.readUnits, needed: second.readUnits },
    { quota: AWS_QUOTAS.writeUnits, needed: second.writeUnits },
    { quota: AWS_QUOTAS.inFlight, needed: Math.max(...queues.map(({ messages }) => messages)) },
    { quota: sharded('the index of what is due', dueShards, 'dueShards'), needed: second.dueUnits },
    { quota: sharded('the platform’s counters', shards, 'counterShards'), needed: second.counterUnits },
    ...queues.map(({ quota, needed }) => ({ quota, needed })),
  ]
  return needs.toSorted((a, b) => b.needed / b.quota.limit - a.needed / a.quota.limit)
}

/** Duration of a request in its function, with a few round trips to the store. */
const API_MS = 30

/** Messages of a queue: the measured kind, their rate per second, and their number per batch. */
interface Messages {
  queue: QueueName
  message: string
  rate: number
  together: number
  outsideMs: number
}

const messagesOf = (events: number): Messages[] => {
  const runs = events * PER_EVENT.runs
  // Messages of a batch are handled in parallel, and batches are full under load.
  const one = (queue: QueueName, message: string, rate: number, outsideMs = 0): Messages => ({
    queue,
    message,
    rate,
    together: QUEUES[queue].batchSize,
    outsideMs,
  })
  return [
    { ...one('statistics', BATCH.name, runs), together: BATCH.ended },
    one('dispatch', 'dispatch: run.created, one subscription', runs, ASSUMED.agentAnswerMs),
    one('delivery', 'delivery', events * PER_EVENT.deliveries, ASSUMED.receiverAnswerMs),
  ]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
