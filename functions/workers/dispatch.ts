import * as z from 'zod'
import { dispatchRun, resumeRun } from '#shared/agents/dispatch/index.ts'
import { FollowMessage, followNotification, followOutsideRun } from '#shared/agents/outside/index.ts'
import { checkCard } from '#shared/catalogue/card-watches/index.ts'
import { carryEvents, fanOutEvent, leaveToFanOut, readAhead } from '#shared/delivery/fan-out/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { EventMessage, eventMessage, StartMessage } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { advanceChat, ChatMessage } from '#shared/work/answering/index.ts'
import { isRunEnd, RunMessage } from '#shared/work/runs/index.ts'

const Message = z.discriminatedUnion('kind', [StartMessage, RunMessage(), FollowMessage(), ChatMessage(), EventMessage])

const OfRun = z.object({ run_id: z.string(), installation_id: z.string() })
const OfStep = OfRun.extend({ step_id: z.string() })
const OfApp = z.object({ app_id: z.string() })
const OfChat = z.object({ conversation_id: z.string() })

/**
 * Advances conversations. Sends new runs to their agents, and resumed runs to agents that ask for them. Runs of inline
 * agents go to their own worker. Follows the tasks of outside A2A agents, and looks at their cards.
 */
export const worker: QueueWorker = {
  name: 'dispatch',
  source: { kind: 'queue', queue: 'dispatch' },
  needs: [
    'table:read',
    'table:write',
    'objects:read',
    'objects:write',
    'keys:callback',
    'keys:data',
    'outgoing',
    'queue:inline-runs',
    // The worker requeues conversations whose agent has no capacity, and tasks of outside agents to look at again.
    'queue:dispatch',
    // It carries the events of runs.
    'queue:delivery',
    'queue:live',
    'queue:statistics',
    'queue:fanout',
  ],
  // The agent has 30 seconds. The rest is for reading and writing.
  timeoutSeconds: 40,
  // It mostly waits. With five answers of 1 MiB, the process takes 105 MB.
  memoryMb: 384,
  async handle(work, message) {
    const given = Message.parse(message)
    switch (given.kind) {
      case 'start':
        return start(work, given)
      case 'run':
        return carrying(work, (inner) => dispatchRun(inner, keyOf(given)))
      case 'follow':
        return carrying(work, (inner) => follow(inner, given))
      case 'chat':
        return advanceChat(work, given.conversation_id)
      case 'event':
        return handleEvent(work, given.event)
    }
  },
}

const keyOf = ({ run_id: id, installation_id }: z.infer<typeof OfRun>) => ({ installation_id, id })

/** Carries the events that a message makes. */
const carrying = async (work: WorkerWork, act: (work: WorkerWork) => Promise<void>): Promise<void> => {
  const { carrying: inner, carry } = carryEvents(work)
  try {
    await act(inner)
  } finally {
    await carry()
  }
}

const start = async (work: WorkerWork, { event, names }: StartMessage): Promise<void> => {
  const { app_id, workspace_id } = event
  const of = OfRun.parse(JSON.parse(event.data))
  const { carrying: inner, made, carry } = carryEvents(work)
  const starting = bringStart(work, event, made)
  const known =
    app_id === undefined ? undefined : { ...names, workspace_id, installation_id: of.installation_id, app_id }
  try {
    await dispatchRun(inner, keyOf(of), known)
  } finally {
    await starting.finish()
    await carry()
  }
}

const follow = (work: WorkerWork, { round, ...of }: z.infer<ReturnType<typeof FollowMessage>>): Promise<void> =>
  round === undefined ? followNotification(work, keyOf(of)) : followOutsideRun(work, keyOf(of), round)

const handleEvent = async (work: WorkerWork, { type, data: text, test }: OutboxEvent): Promise<void> => {
  // A sample event belongs to no run.
  if (test) return
  const data: unknown = JSON.parse(text)
  switch (type) {
    case 'chat.moved':
      return advanceChat(work, OfChat.parse(data).conversation_id)
    case 'agent_card.due':
      return checkCard(work, OfApp.parse(data).app_id)
    case 'a2a.task_notified':
      return carrying(work, (inner) => followNotification(inner, keyOf(OfRun.parse(data))))
    case 'run.resumed':
    case 'run.input_received': {
      const { step_id, ...of } = OfStep.parse(data)
      return carrying(work, (inner) => resumeRun(inner, keyOf(of), step_id))
    }
    default:
      throw new Error(`the dispatcher doesn’t handle ${type}`)
  }
}

/** Time after which the statistics list a run as active that its agent still works on. */
const LISTED_AFTER = 5 * SECOND

/**
 * Carries a new run's event while its agent works. If the run doesn't end within seconds, the statistics list it as active until
 * they count its end.
 * @param made events of the run since then
 * @returns `finish` waits until all is done
 */
const bringStart = (
  work: WorkerWork,
  created: OutboxEvent,
  made: readonly OutboxEvent[],
): { finish(): Promise<void> } => {
  let listing: Promise<void> | undefined
  const list = () => {
    if (!made.some(isRunEnd)) listing ??= work.queues.send('statistics', [{ body: eventMessage(created) }])
    listing?.catch((error) => work.log.warn('the list of active runs is left to the sweeper', { error }))
  }
  const timer = setTimeout(list, LISTED_AFTER)
  const bringing = fanOutEvent(work, created.id, readAhead(work, created)).catch((error) =>
    leaveToFanOut(work, created, error),
  )
  return {
    finish: async () => {
      clearTimeout(timer)
      list()
      await Promise.allSettled([bringing, listing])
    },
  }
}
