import * as z from 'zod'
import { type Announcing, dispatchRun, resumeRun } from '#shared/agents/dispatch/index.ts'
import { followNotification, followOutsideRun } from '#shared/agents/outside/index.ts'
import { lookAtCard } from '#shared/catalogue/card-watches/index.ts'
import { carryEvents, fanOut, fanOutEvent, readAhead, recordRunCreated } from '#shared/delivery/fan-out/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { BusMessage } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { listStartedRun } from '#shared/insight/statistics/index.ts'
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
    const { detail, run } = BusMessage.parse(message)
    // A sample event belongs to no run.
    if (detail.test) return
    if (detail.type === 'chat.moved') return advanceChat(work, Moved.parse(JSON.parse(detail.data)).conversation_id)
    if (detail.type === 'agent_card.due') return lookAtCard(work, Due.parse(JSON.parse(detail.data)).app_id)
    const { carrying, made, carry } = carryEvents(work)
    const announced = detail.carried ? announce(work, detail, made) : undefined
    try {
      await handle(carrying, detail, announced, run)
    } finally {
      await announced?.finish()
      await carry()
    }
  },
}

const handle = async (
  work: WorkerWork,
  { type, workspace_id, data }: OutboxEvent,
  announcing?: Announcing,
  named?: BusMessage['run'],
): Promise<void> => {
  const { run_id, installation_id, app_id, step_id, round } = Data.parse(JSON.parse(data))
  const key = { installation_id, id: run_id }
  if (type === 'run.followed' && round !== undefined) await followOutsideRun(work, key, round)
  else if (type === 'a2a.task_notified') await followNotification(work, key)
  else if (type === 'run.created') {
    const names = named && app_id !== undefined ? { ...named, workspace_id, installation_id, app_id } : undefined
    await dispatchRun(work, key, announcing, names)
  } else if (step_id !== undefined) await resumeRun(work, key, step_id)
}

/** Time after which a run that its agent still works on is listed as active. */
const COUNTED_AFTER = 5 * SECOND

/**
 * Brings a new run's event to everybody while its agent works. If the run doesn't end within seconds, it is listed as active until
 * its end is counted.
 * @param made events of the run since then
 * @returns `finish` waits until all is done
 */
const announce = (
  work: WorkerWork,
  created: OutboxEvent,
  made: readonly OutboxEvent[],
): Announcing & { finish(): Promise<void> } => {
  const message = { body: { 'detail-type': created.type, detail: created } }
  const attempt = (act: Promise<boolean>): Promise<boolean> =>
    act.catch((error) => {
      work.log.warn('the event of a new run is left to the sweeper', { event_id: created.id, error })
      return false
    })
  let counting: Promise<boolean> | undefined
  const send = async (queue: 'statistics' | 'fanout', group?: string): Promise<false> => {
    await work.queues.send(queue, [{ ...message, ...(group !== undefined && { group }) }])
    return false
  }
  const begin = async (): Promise<boolean> => {
    const isListed = await listStartedRun(work, created, announcing.found).catch((error) => {
      work.log.warn('the list of active runs is left to the statistics', { event_id: created.id, error })
      return false
    })
    return isListed || send('statistics')
  }
  const count = () => {
    if (!made.some(isRunEnd)) counting ??= attempt(begin())
  }
  const timer = setTimeout(count, COUNTED_AFTER)
  const ahead = readAhead(work, created)
  const recording = recordRunCreated(work, created)
  const bringing = attempt(
    recording
      .then((delivering) => (delivering ? fanOut(work, { ...delivering, ahead }) : fanOutEvent(work, created.id)))
      .catch((error) => {
        work.log.warn('the event of a new run is left to the fan-out', { event_id: created.id, error })
        return send('fanout', created.workspace_id)
      }),
  )
  const finish = async () => {
    clearTimeout(timer)
    count()
    await Promise.all([bringing, counting])
  }
  const recorded = recording.then((delivering) => delivering?.event.due_at !== undefined)
  // Awaited by the dispatch of a queued run only.
  recorded.catch(() => {})
  const announcing: Announcing & { finish(): Promise<void> } = { recorded, brought: bringing, finish }
  return announcing
}
