import * as z from 'zod'
import { dispatchRun, resumeRun } from '#shared/agents/dispatch/index.ts'
import { followNotification, followOutsideRun } from '#shared/agents/outside/index.ts'
import { lookAtCard } from '#shared/catalogue/card-watches/index.ts'
import { carryEvents, fanOutEvent, leaveToFanOut, readAhead } from '#shared/delivery/fan-out/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { BusMessage, busMessageOf, StartMessage } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { advanceChat } from '#shared/work/answering/index.ts'
import { isRunEnd } from '#shared/work/runs/index.ts'

const Data = z.object({
  run_id: z.string(),
  installation_id: z.string(),
  app_id: z.string().optional(),
  step_id: z.string().optional(),
  round: z.number().optional(),
})

const Due = z.object({ app_id: z.string() })

const Moved = z.object({ conversation_id: z.string() })

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
    const given = z.union([StartMessage, BusMessage]).parse(message)
    const event = given.kind === 'start' ? given.event : given.detail
    // A sample event belongs to no run.
    if (event.test) return
    if (event.type === 'chat.moved') return advanceChat(work, Moved.parse(JSON.parse(event.data)).conversation_id)
    if (event.type === 'agent_card.due') return lookAtCard(work, Due.parse(JSON.parse(event.data)).app_id)
    const { carrying, made, carry } = carryEvents(work)
    const starting = given.kind === 'start' ? bringStart(work, event, made) : undefined
    try {
      await handle(carrying, event, given.kind === 'start' ? given.names : undefined)
    } finally {
      await starting?.finish()
      await carry()
    }
  },
}

const handle = async (
  work: WorkerWork,
  { type, workspace_id, data }: OutboxEvent,
  named?: StartMessage['names'],
): Promise<void> => {
  const { run_id, installation_id, app_id, step_id, round } = Data.parse(JSON.parse(data))
  const key = { installation_id, id: run_id }
  if (type === 'run.followed' && round !== undefined) await followOutsideRun(work, key, round)
  else if (type === 'a2a.task_notified') await followNotification(work, key)
  else if (type === 'run.created') {
    const names = named && app_id !== undefined ? { ...named, workspace_id, installation_id, app_id } : undefined
    await dispatchRun(work, key, names)
  } else if (step_id !== undefined) await resumeRun(work, key, step_id)
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
    if (!made.some(isRunEnd)) listing ??= work.queues.send('statistics', [{ body: busMessageOf(created) }])
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
