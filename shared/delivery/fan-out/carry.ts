import { carried, emittedBy, isSettled, OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { type BusMessage, QUEUES, sendPromptly } from '#shared/foundation/queues/index.ts'
import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { countEvents } from '#shared/insight/statistics/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { continueTrace } from '#shared/kernel/tracing/scope.ts'
import type { Table } from '#shared/table/table.ts'
import { definitionOf } from '../catalogue/catalogue.ts'
import { fanOut } from './fan-out.ts'

const queuesOf = (type: string): QueueName[] =>
  (Object.keys(QUEUES) as QueueName[]).filter((queue) => QUEUES[queue].fromBus?.includes(type))

/**
 * Returns true for an event that the worker that made it brings to everybody at little cost: it belongs to one installation,
 * and apart from the fan-out only the statistics wait for it.
 */
const isCarriable = ({ type, pushes, test }: OutboxEvent): boolean =>
  !pushes &&
  !test &&
  definitionOf(type)?.audience === 'installation' &&
  queuesOf(type).every((queue) => queue === 'statistics')

/** Marks the events that some work makes as carried, so that the relay leaves them out. */
const markCarried = <W extends Work>(work: W): { carrying: W; made: OutboxEvent[] } => {
  const made: OutboxEvent[] = []
  const carrying: W = {
    ...work,
    commit: async (writes, answer) => {
      const events: OutboxEvent[] = []
      const marked = writes.map((write) => {
        const event = emittedBy(write)
        if (!event || !isCarriable(event)) return write
        events.push({ ...event, carried: true })
        return carried(write)
      })
      await work.commit(marked, answer)
      made.push(...events)
    },
    carrier: { takes: isCarriable, take: (event) => void made.push(event) },
  }
  return { carrying, made }
}

/**
 * Lets a worker carry the events that it makes, instead of the stream, the relay, the bus and the fan-out: four hops fewer.
 * @returns the work to make them with, and what brings them to everybody, in the order in which they were made
 */
export const carryEvents = <W extends WorkerWork>(
  work: W,
): { carrying: W; made: readonly OutboxEvent[]; carry(): Promise<void> } => {
  const { carrying, made } = markCarried(work)
  return {
    carrying,
    made,
    carry: async () => {
      for (const event of made.splice(0)) await carryEvent(work, event)
    },
  }
}

/**
 * Hands the events of a request to the fan-out in a message, which also has them counted, instead of the stream, the relay, the
 * bus and two queues.
 */
export const handOver = async <T>(work: Work, act: (work: Work) => Promise<T>): Promise<T> => {
  const { carrying, made } = markCarried(work)
  const result = await act(carrying)
  for (const event of made) await sendPromptly(work, 'fanout', event)
  return result
}

/** Brings an event to everybody that a request handed over, unless that was done. */
export const carryHanded = async (work: WorkerWork, { id }: OutboxEvent): Promise<void> => {
  const event = await work.table.get(OutboxEntity, { id })
  if (!event || isSettled(event)) return
  continueTrace(event.trace)
  const rest = isCounted(event) ? count(work, event) : undefined
  await Promise.all([fanOut(work, { event, ...(rest && { rest }) }), rest])
}

/** Message that the bus would have put into a queue for the event. */
const busMessageOf = (event: OutboxEvent): BusMessage => ({ 'detail-type': event.type, detail: event })

/** Time without another run after which an instance counts one itself. In batches of many, counting costs half as much. */
const QUIET = 5 * SECOND

const lastCounted = new WeakMap<Table, number>()

/** Has an event counted: by this instance while it has little to do, because a message costs more than the counting. */
const count = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const now = work.clock.now()
  const isQuiet = now - (lastCounted.get(work.table) ?? 0) >= QUIET
  lastCounted.set(work.table, now)
  const failed = isQuiet ? await countEvents(work, [event]) : undefined
  // Statistics may lag, so their messages need no fair queue.
  if (!isQuiet || failed?.size) await work.queues.send('statistics', [{ body: busMessageOf(event) }])
}

const isCounted = ({ type }: OutboxEvent): boolean => QUEUES.statistics.fromBus?.includes(type) ?? false

/**
 * Brings an event to everybody. It stays due until all parts are done, so the sweeper publishes it if this worker dies. If a
 * part fails, a message leaves it to the fan-out.
 */
const carryEvent = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const counting = isCounted(event) ? count(work, event) : undefined
  try {
    await Promise.all([fanOut(work, { event, isNew: true, ...(counting && { rest: counting }) }), counting])
  } catch (error) {
    const { id: event_id, type, workspace_id: group } = event
    work.log.warn('a carried event is left to the fan-out', { event_id, type, error })
    const body = busMessageOf(event)
    try {
      if (isCounted(event)) await work.queues.send('statistics', [{ body }])
      await work.queues.send('fanout', [{ body, group }])
    } catch (again) {
      work.log.warn('a carried event is left to the sweeper', { event_id, type, error: again })
    }
  }
}
