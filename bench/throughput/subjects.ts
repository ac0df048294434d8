import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Receiver } from '#testkit/receiver.ts'
import { type Client, createTenant, type Tenant } from '../latency/setup.ts'
import { DONE } from '../local-run.ts'

/** Load in closed loops: each round begins when the previous one is done. */
export interface Load {
  /** Number of parallel loops. */
  loops: number
  /** Runs one round of a loop. @returns the milliseconds per unit */
  once(loop: number): Promise<number[]>
}

/** Means to generate loads. */
export interface Scene {
  call: Client
  open(): Promise<Receiver>
  /** Interval in ms at which runs are read until they have ended. Without it, the request that starts a run waits for its end. */
  pollMs?: number | undefined
}

/** Number of tenants, enough that none reaches its limit of 10 calls a second. */
const TENANTS = 128
const LOOPS = 8
const STEPS_PER_RUN = 200
const ACTIVE_RUNS = 4
const SUBSCRIPTIONS = 10
const LOOK_MS = 2

const tenantsOf = async ({ call }: Scene, agent: Receiver, count: number): Promise<Tenant[]> => {
  const tenants: Tenant[] = []
  while (tenants.length < count) tenants.push(await createTenant(call, agent.url, []))
  return tenants
}

/** Gives each loop its own tenants, one after the other, so that loops don't interfere. */
const turns = (tenants: readonly Tenant[], loops: number) => {
  const rounds: number[] = Array(loops).fill(0)
  const each = Math.floor(tenants.length / loops)
  return (loop: number): { tenant: Tenant; index: number } => {
    const index = loop * each + ((rounds[loop] ?? 0) % each)
    rounds[loop] = (rounds[loop] ?? 0) + 1
    return { tenant: tenants[index] as Tenant, index }
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number[]> => {
  const began = performance.now()
  await work()
  return [performance.now() - began]
}

const reads = async (scene: Scene): Promise<Load> => {
  const next = turns(await tenantsOf(scene, await scene.open(), TENANTS), LOOPS)
  return {
    loops: LOOPS,
    once: (loop) => timed(() => scene.call('GET', '/api/v1/me', next(loop).tenant.headers)),
  }
}

const start = { input: { name: 'Ada' }, trigger: 'bench' }

/** Writes steps of runs whose agents answered 202. */
const writes = async (scene: Scene): Promise<Load> => {
  const agent = await scene.open()
  agent.answer({ kind: 'answer', status: 202 })
  const tenants = await tenantsOf(scene, agent, TENANTS)
  const runs: { id: string; steps: number }[] = []
  const begin = async ({ headers }: Tenant) => {
    const { id } = await scene.call('POST', '/api/v1/runs', headers, start)
    while (!agent.requests.some(({ body }) => JSON.parse(body.toString()).run.id === id)) await pause(LOOK_MS)
    return { id, steps: 0 }
  }
  for (const tenant of tenants) runs.push(await begin(tenant))
  const next = turns(tenants, LOOPS)
  return {
    loops: LOOPS,
    once: async (loop) => {
      const { tenant, index } = next(loop)
      const run = runs[index]
      if (!run || run.steps >= STEPS_PER_RUN) throw new Error('The runs are full of steps')
      run.steps += 1
      const headers = { ...tenant.headers, 'idempotency-key': randomUUID() }
      return timed(() => scene.call('POST', `/api/v1/runs/${run.id}/steps`, headers, { type: 'message' }))
    },
  }
}

/** Runs whose agent answers at once, awaited by the request that starts them, or polled for. */
const runs = async (scene: Scene): Promise<Load> => {
  const agent = await scene.open()
  agent.answer({ kind: 'answer', status: 200, body: DONE })
  const loops = ACTIVE_RUNS * 2
  const next = turns(await tenantsOf(scene, agent, loops * 2), loops)
  return {
    loops,
    once: async (loop) => {
      const { headers } = next(loop).tenant
      const run = scene.pollMs === undefined ? await waited(scene, headers) : await polled(scene, headers, scene.pollMs)
      if (run.status !== 'succeeded') throw new Error(`A run failed: ${JSON.stringify(run)}`)
      return [Date.parse(run.finished_at) - Date.parse(run.created_at)]
    },
  }
}

const waited = ({ call }: Scene, headers: Tenant['headers']) => call('POST', '/api/v1/runs?wait=30', headers, start)

const polled = async ({ call }: Scene, headers: Tenant['headers'], everyMs: number) => {
  const { id } = await call('POST', '/api/v1/runs', headers, start)
  for (;;) {
    await pause(everyMs)
    const run = await call('GET', `/api/v1/runs/${id}`, headers)
    if (run.finished_at !== null) return run
  }
}

/** Emits events, each to ten subscriptions, until all of them have received it. */
const deliveries = async (scene: Scene): Promise<Load> => {
  const agent = await scene.open()
  const loops = 4
  const receivers = await Promise.all(Array.from({ length: loops * 2 }, () => scene.open()))
  const tenants: Tenant[] = []
  for (const receiver of receivers) {
    const scopes = ['webhooks:manage', 'tools:invoke']
    const all = Array<Receiver>(SUBSCRIPTIONS).fill(receiver)
    tenants.push(await createTenant(scene.call, agent.url, all, { scopes, events: ['custom.*'] }))
  }
  const next = turns(tenants, loops)
  return {
    loops,
    once: async (loop) => {
      const { tenant, index } = next(loop)
      const receiver = receivers[index] as Receiver
      receiver.requests.length = 0
      const body = { arguments: { type: 'stock.low', data: { left: 3 } } }
      await scene.call('POST', '/api/v1/tools/emit_event/invoke', tenant.headers, body)
      const requests = await receiver.received(SUBSCRIPTIONS)
      return requests.map(({ body: sent, at }) => at - Date.parse(JSON.parse(sent.toString()).created_at))
    },
  }
}

/** Measured subjects, by their name in the tables. */
export const SUBJECTS = {
  'reads (GET /api/v1/me)': reads,
  'writes (steps, with an Idempotency-Key)': writes,
  'runs, from start to finish': runs,
  'webhook deliveries (10 for each event)': deliveries,
} satisfies Record<string, (scene: Scene) => Promise<Load>>

export type SubjectName = keyof typeof SUBJECTS
