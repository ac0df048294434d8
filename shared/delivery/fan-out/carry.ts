import { carried, emittedBy, isSettled, OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { type CarryMessage, eventMessage, hasFollowUp, QUEUES, sendPromptly } from '#shared/foundation/queues/index.ts'
import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { continueTrace } from '#shared/kernel/tracing/scope.ts'
import { isRunEnd } from '#shared/work/runs/index.ts'
import { definitionOf } from '../catalogue/catalogue.ts'
import { fanOut } from './fan-out.ts'

const queuesOf = (type: string): QueueName[] =>
  (Object.keys(QUEUES) as QueueName[]).filter((queue) => QUEUES[queue].fromBus?.includes(type))

/**
 * Returns true for an event that can be carried at little cost: it belongs to one installation, and apart from the fan-out only
 * the statistics wait for it. The `run.created` event of a run is carried by the dispatch of the run.
 */
const isCarriable = ({ type, pushes, test, carried }: OutboxEvent): boolean =>
  carried === true ||
  (!pushes &&
    !test &&
    definitionOf(type)?.audience === 'installation' &&
    queuesOf(type).every((queue) => queue === 'statistics'))

/** Returns the same work, whose events are carried: the stream leaves them out, and `take` gets each once it is committed. */
const carrying = <W extends Work>(work: W, take: (event: OutboxEvent) => void): W => ({
  ...work,
  commit: async (writes, answer) => {
    const events: OutboxEvent[] = []
    const marked = writes.map((write) => {
      const event = emittedBy(write)
      if (!event || hasFollowUp(write) || !isCarriable(event)) return write
      events.push({ ...event, carried: true })
      return carried(write)
    })
    await work.commit(marked, answer)
    for (const event of events) take(event)
  },
})

/**
 * Lets a worker carry the events that it makes, in its own process.
 * @returns the work to make them with, and what carries them, in the order in which they were made
 */
export const carryEvents = <W extends WorkerWork>(
  work: W,
): { carrying: W; made: readonly OutboxEvent[]; carry(): Promise<void> } => {
  const made: OutboxEvent[] = []
  return {
    carrying: carrying(work, (event) => void made.push(event)),
    made,
    carry: async () => {
      for (const event of made.splice(0)) await carryOrLeave(work, event)
    },
  }
}

/** Carries the events of a request: sends a message for each to the fan-out. The request ends when all are sent. */
export const handOver = async <T>(work: Work, act: (work: Work) => Promise<T>): Promise<T> => {
  const sending: Promise<void>[] = []
  const handing = handingOver(work, (sent) => void sending.push(sent))
  try {
    return await act(handing.work)
  } finally {
    handing.finish()
    await Promise.all(sending)
  }
}

/** Time for which the message of a run's start waits for the run's end, whose message brings both. */
const START_WAITS = SECOND

/**
 * Returns work whose events are sent to the fan-out once they are committed.
 * @param keep gets the sending of each message. The request must not end before it resolves
 * @returns `finish` sends what still waits
 */
export const handingOver = (work: Work, keep: (sent: Promise<void>) => void): { work: Work; finish(): void } => {
  const waiting = new Map<string, (isLeft: boolean) => void>()
  const send = (event: OutboxEvent) => sendPromptly(work, 'fanout', carryMessage(event), event)
  const sendLater = async (event: OutboxEvent): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    waiting.set(runOf(event), resolve)
    const timer = setTimeout(() => resolve(true), START_WAITS)
    const isLeft = await promise
    clearTimeout(timer)
    if (isLeft) await send(event)
  }
  const take = (event: OutboxEvent): void => {
    if (isRunEnd(event)) waiting.get(runOf(event))?.(false)
    keep(event.type === 'run.created' ? sendLater(event) : send(event))
  }
  return {
    work: carrying(work, take),
    finish: () => {
      for (const sendNow of waiting.values()) sendNow(true)
    },
  }
}

const runOf = ({ data }: OutboxEvent): string => (JSON.parse(data) as { run_id: string }).run_id

const carryMessage = ({ id }: OutboxEvent): CarryMessage => ({ kind: 'carry', event_id: id })

/** Carries an event of a message, unless all of its consumers have it. */
export const carryById = async (work: WorkerWork, id: string): Promise<void> => {
  const event = await work.table.get(OutboxEntity, { id })
  if (!event || isSettled(event)) return
  continueTrace(event.trace)
  await carry(work, event)
}

const isCounted = ({ type }: OutboxEvent): boolean => QUEUES.statistics.fromBus?.includes(type) ?? false

/** Brings an event to all of its consumers: to the fan-out, and in a message to the statistics. It stays due until all parts are done. */
const carry = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  // Statistics may lag, so their messages need no fair queue.
  const counted = isCounted(event) ? work.queues.send('statistics', [{ body: eventMessage(event) }]) : Promise.resolve()
  await Promise.all([fanOut(work, { event, rest: counted }), counted])
}

/** Carries an event. If a part fails, a message has the fan-out do it again, and if that can't be sent, the sweeper does. */
const carryOrLeave = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  try {
    await carry(work, event)
  } catch (error) {
    await leaveToFanOut(work, event, error)
  }
}

/** Sends the message that has the fan-out carry an event, because carrying it here failed. */
export const leaveToFanOut = async (work: WorkerWork, event: OutboxEvent, error: unknown): Promise<void> => {
  const { id: event_id, type, workspace_id: group } = event
  work.log.warn('a carried event is left to the fan-out', { event_id, type, error })
  try {
    await work.queues.send('fanout', [{ body: carryMessage(event), group }])
  } catch (again) {
    work.log.warn('a carried event is left to the sweeper', { event_id, type, error: again })
  }
}
