import { QUEUES } from '#shared/events/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { total, type Usage } from '../cost/usage.ts'
import { ASSUMED, millisecondsOf, type Sources, usesOf } from '../cost.ts'
import { AWS_QUOTAS, type Quota, sharded, stageThrottle, workersOf } from './quotas.ts'

/** What comes with one event: it is one of a run’s two, is delivered to one webhook, and an integration makes two calls meanwhile. */
export const PER_EVENT = { runs: 0.5, deliveries: 1, calls: 2 } as const

/** What a second of so many events takes. */
export const secondOf = (sources: Sources, events: number): Usage => {
  const { call, run, delivery } = usesOf(sources)
  return total(
    [call, events * PER_EVENT.calls],
    [run, events * PER_EVENT.runs],
    [delivery, events * PER_EVENT.deliveries],
  )
}

/** Settings of a stage that set limits of its own. */
export interface Limits {
  throttle: number
  shards: number
}

export interface Need {
  quota: Quota
  needed: number
}

/** How much of every quota a load takes, what is scarcest first. */
export const needsOf = (sources: Sources, events: number, { throttle, shards }: Limits): Need[] => {
  const second = secondOf(sources, events)
  const queues = messagesOf(events).map(({ queue, message, rate, outsideMs }) => {
    const { batchSize, maxConcurrency } = QUEUES[queue]
    const messages = (rate * millisecondsOf(sources, message, outsideMs)) / 1_000
    // Messages of a batch are worked on at the same time; under load batches are full.
    return { quota: workersOf(queue, maxConcurrency), needed: messages / batchSize, messages }
  })
  const rules = events * (PER_EVENT.runs * RULES_OF_A_RUN)
  const apiSeconds = (second.apiRequests * API_MS) / 1_000
  const needs: Need[] = [
    { quota: stageThrottle(throttle), needed: second.apiRequests },
    { quota: AWS_QUOTAS.apiRequests, needed: second.apiRequests },
    { quota: AWS_QUOTAS.executions, needed: apiSeconds + sum(queues.map(({ needed }) => needed)) },
    { quota: AWS_QUOTAS.readUnits, needed: second.readUnits },
    { quota: AWS_QUOTAS.writeUnits, needed: second.writeUnits },
    { quota: AWS_QUOTAS.busEvents, needed: second.busEvents },
    { quota: AWS_QUOTAS.ruleTargets, needed: rules },
    { quota: AWS_QUOTAS.inFlight, needed: Math.max(...queues.map(({ messages }) => messages)) },
    { quota: sharded('the index of what is due', shards), needed: second.dueUnits },
    { quota: sharded('the platform’s counters', shards), needed: second.counterUnits },
    ...queues.map(({ quota, needed }) => ({ quota, needed })),
  ]
  return needs.toSorted((a, b) => b.needed / b.quota.limit - a.needed / a.quota.limit)
}

/** A request's time in its function: a few round trips to the store. */
const API_MS = 30

/** Both events of a run go to the fan-out and the statistics, its first one to the dispatch. */
const RULES_OF_A_RUN = 5

const messagesOf = (events: number): { queue: QueueName; message: string; rate: number; outsideMs: number }[] => {
  const runs = events * PER_EVENT.runs
  const one = (queue: QueueName, message: string, rate: number, outsideMs = 0) => ({ queue, message, rate, outsideMs })
  return [
    one('fanout', 'fanout: run.succeeded, one subscription', events),
    one('statistics', 'statistics: run.succeeded', events),
    one('dispatch', 'dispatch: run.created', runs, ASSUMED.agentAnswerMs),
    one('delivery', 'delivery', events * PER_EVENT.deliveries, ASSUMED.receiverAnswerMs),
  ]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
