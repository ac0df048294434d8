import { carried, emittedBy, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { type BusMessage, QUEUES } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { definitionOf } from '../catalogue/catalogue.ts'
import { fanOut } from './fan-out.ts'

/** Queues, next to the fan-out's, that a worker sends the events to that it carries. */
const WOKEN: readonly QueueName[] = ['statistics']

const queuesOf = (type: string): QueueName[] =>
  (Object.keys(QUEUES) as QueueName[]).filter((queue) => QUEUES[queue].fromBus?.includes(type))

/**
 * Returns true for an event that the worker that made it brings to everybody at little cost: it belongs to one installation,
 * and of all workers only {@link WOKEN} wait for it.
 */
const isCarriable = ({ type, pushes, test }: OutboxEvent): boolean =>
  !pushes &&
  !test &&
  definitionOf(type)?.audience === 'installation' &&
  queuesOf(type).every((queue) => WOKEN.includes(queue))

/**
 * Lets a worker carry the events that it makes, instead of the stream, the relay, the bus and the fan-out: four hops fewer.
 * @returns the work to make them with, and what brings them to everybody, in the order in which they were made
 */
export const carryEvents = <W extends WorkerWork>(
  work: W,
): { carrying: W; made: readonly OutboxEvent[]; carry(): Promise<void> } => {
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
  }
  return {
    carrying,
    made,
    carry: async () => {
      for (const event of made.splice(0)) await carryEvent(work, event)
    },
  }
}

/** Message that the bus would have put into a queue for the event. */
export const busMessageOf = (event: OutboxEvent): BusMessage => ({ 'detail-type': event.type, detail: event })

/**
 * Brings an event to everybody. It stays due until all parts are done, so the sweeper publishes it if this worker dies. If a
 * part fails, a message leaves it to the fan-out.
 */
const carryEvent = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const body = busMessageOf(event)
  const group = event.workspace_id
  // Statistics may lag, so their messages need no fair queue.
  const wake = async (queue: QueueName) => work.queues.send(queue, [{ body, ...(queue !== 'statistics' && { group }) }])
  try {
    await fanOut(work, event, () => Promise.all(queuesOf(event.type).map(wake)))
  } catch (error) {
    work.log.warn('a carried event is left to the fan-out', { event_id: event.id, type: event.type, error })
    try {
      await Promise.all([...queuesOf(event.type), 'fanout' as const].map(wake))
    } catch (again) {
      work.log.warn('a carried event is left to the sweeper', { event_id: event.id, type: event.type, error: again })
    }
  }
}
