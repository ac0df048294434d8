import { createWorkerWork } from '#shared/http/worker.ts'
import { newRun } from '#shared/work/runs/start.ts'
import { TaskEntity } from '#shared/work/tasks/entity.ts'
import { callbackToken, type InstalledOptions, installed } from '#testkit/fixtures.ts'
import { succeeded, type TestPlatform } from '#testkit/platform.ts'
import type { Receiver } from '#testkit/receiver.ts'

interface ReceivedEvent {
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: each type has data of its own
  data: any
}

/** Creates an agent that answers 202 and a member of its workspace, with functions for what both do with tasks. */
export const tasksOf = async (platform: TestPlatform, agent: Receiver, options: InstalledOptions = {}) => {
  const app = await installed(platform.deps, { endpoint: agent.url, ...options })
  const asAgent = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    platform.call(method, `/api/v1/tasks${path}`, { token: app.token, headers, body })
  const asPerson = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    platform.call(method, `/console/tasks${path}`, { token: app.person.token, headers, body })
  return {
    ...app,
    asAgent,
    asPerson,
    invoke: (name: string, args: object, more: { run_id?: string; token?: string } = {}) => {
      const { token = app.token, ...rest } = more
      return platform.call('POST', `/api/v1/tools/${name}/invoke`, { token, body: { arguments: args, ...rest } })
    },
    /** Creates a person’s task for the agent. */
    task: async (fields: Record<string, unknown> = {}): Promise<{ id: string; conversation_id: string }> => {
      const body = { title: 'Count the stock', installation_id: app.installation.id, ...fields }
      const task = await succeeded(asPerson('POST', '', body))
      // Events of one millisecond have no order.
      platform.clock.advance(1)
      return task
    },
    /** Creates a task that the agent has received, with its run’s callback token. */
    handed: async () => {
      const body = { title: 'Count the stock', installation_id: app.installation.id }
      const { id } = await succeeded(asPerson('POST', '', body))
      const { run_id } = await succeeded(asPerson('POST', `/${id}/run`, {}))
      await platform.drain()
      return { id: id as string, run_id: run_id as string, token: await callbackToken(platform.deps, app, run_id) }
    },
    /** Reads the task as people see it. */
    read: (id: string) => succeeded(asPerson('GET', `/${id}`)),
    runs: async () => (await platform.call('GET', '/api/v1/runs', { token: app.token })).body.items,
    /** Creates a run of the agent in a chain, as another agent’s call would start it. */
    deepRun: async (chain: { chain_depth: number; audience?: 'member' | 'external' }) => {
      const work = createWorkerWork(platform.deps)
      const { run, writes } = await newRun(work, { installation: app.installation, input: {}, trigger: 'agent', chain })
      await work.commit(writes)
      await platform.drain()
      return { run, token: await callbackToken(platform.deps, app, run.id) }
    },
    finish: (runId: string) =>
      succeeded(
        platform.call('POST', `/api/v1/runs/${runId}/complete`, { token: app.token, body: { status: 'succeeded' } }),
      ),
    /** Lists the events that the agent received since its installation, oldest first. */
    receivedEvents: async (mask: string): Promise<ReceivedEvent[]> => {
      await platform.drain()
      const { body } = await platform.call('GET', `/api/v1/events?types=${mask}&limit=100`, { token: app.token })
      return body.items
    },
  }
}

/**
 * Synchronizes requests: each reads the task, and none continues before `n` of them have.
 * @param meanwhile action that runs before they continue
 */
export const synchronizeReads = async <T>(
  platform: TestPlatform,
  n: number,
  requests: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<T> => {
  const { table } = platform.deps
  const { get } = table
  let all = () => {}
  const allHaveRead = new Promise<void>((resolve) => {
    all = resolve
  })
  let readers = 0
  table.get = (async (entity: { name: string }, fields: unknown) => {
    const found = await (get as (...given: unknown[]) => unknown).call(table, entity, fields)
    if (entity.name !== TaskEntity.name) return found
    if (++readers === n) void meanwhile().then(all)
    await allHaveRead
    return found
  }) as typeof get
  try {
    return await requests()
  } finally {
    table.get = get
  }
}
