import { setTimeout as pause } from 'node:timers/promises'
import { AppEntity, VersionEntity } from '#shared/entities/apps.ts'
import { CounterEntity } from '#shared/entities/developers.ts'
import { InstallationEntity } from '#shared/entities/installations.ts'
import { AuditEntity } from '#shared/entities/platform.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '#shared/entities/runs.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { callbackToken, installed } from '#test/support/fixtures.ts'
import type { Answer, TestPlatform } from '#test/support/platform.ts'
import { type Answer as Reply, startReceiver } from '#test/support/receiver.ts'
import { using } from '#test/support/using.ts'

/** What an agent is sent. */
// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
export type Execute = any

export type Behaviour = (execute: Execute) => unknown | Promise<unknown>

/** Raw answers for agents that misbehave below JSON. */
export class Raw {
  readonly reply: Reply
  constructor(reply: Reply) {
    this.reply = reply
  }
}

export const ACCEPT = new Raw({ kind: 'answer', status: 202 })

/** An agent that succeeds with this output. */
export const gives = (output: unknown) => () => ({ status: 'succeeded', output })

const ANYTHING = { type: 'object' }

export interface AgentOptions {
  behaviour?: Behaviour
  tools?: { name: string; input_schema: Record<string, unknown> }[]
  name?: string
  scopes?: readonly Scope[]
  workspaceId?: string
}

/** Agents of one workspace that answer as told, and whoever they call. */
export const createAgents = async (platform: TestPlatform) => {
  const { deps } = platform
  const receiver = await startReceiver()
  const behaviours = new Map<string, Behaviour>()
  const received: Execute[] = []
  receiver.answer(async ({ path, body }) => {
    const execute = JSON.parse(body.toString())
    received.push(execute)
    const answer = await behaviours.get(path)?.(execute)
    if (answer instanceof Raw) return answer.reply
    return { kind: 'answer', headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer ?? {}) }
  })

  /** An installed agent with the declared tool `look`, or others. */
  const agent = async ({ behaviour = gives({ ok: true }), tools, name, scopes, workspaceId }: AgentOptions = {}) => {
    const path = `/${behaviours.size + 1}`
    behaviours.set(path, behaviour)
    const made = await installed(deps, {
      endpoint: `${receiver.url}${path}`,
      ...(scopes && { scopes }),
      ...(workspaceId && { workspaceId }),
    })
    const { app, version } = made
    const manifest = {
      id: version.agent_id,
      version: '1.0.0',
      name: name ?? app.name,
      tools: (tools ?? [{ name: 'look', input_schema: ANYTHING }]).map((tool) => ({ description: 'Looks.', ...tool })),
    }
    await deps.table.transact([
      VersionEntity.update(version, { set: { manifest: { json: JSON.stringify(manifest) } } }),
      AppEntity.update(app, { set: { name: name ?? app.name } }),
    ])
    return {
      ...made,
      slug: app.slug,
      /** From now on it behaves like this. */
      behaves: (now: Behaviour) => behaviours.set(path, now),
      set: (set: Parameters<typeof InstallationEntity.update>[1]['set']) =>
        deps.table.transact([InstallationEntity.update(made.installation, { set })]),
    }
  }
  type Agent = Awaited<ReturnType<typeof agent>>

  /** Agents of one workspace, in order. */
  const team = async <const O extends readonly AgentOptions[]>(...options: O): Promise<{ [I in keyof O]: Agent }> => {
    const made: Agent[] = []
    for (const option of options) {
      made.push(await agent({ ...option, ...(made[0] && { workspaceId: made[0].workspaceId }) }))
    }
    return made as { [I in keyof O]: Agent }
  }

  const invoke = (token: string, tool: string, args: unknown, more: { run_id?: string; key?: string } = {}) =>
    platform.call('POST', `/api/v1/tools/${tool}/invoke`, {
      token,
      body: { arguments: args, ...(more.run_id && { run_id: more.run_id }) },
      ...(more.key && { headers: { 'idempotency-key': more.key } }),
    })

  /** A call that is not expected to wait. */
  const ask = (
    token: string,
    agentName: string,
    args: Record<string, unknown> = {},
    more?: { run_id?: string; key?: string },
  ) => invoke(token, 'ask_agent', { agent: agentName, tool: 'look', ...args }, more)

  const delegate = (
    token: string,
    agentName: string,
    args: Record<string, unknown> = {},
    more?: { run_id?: string; key?: string },
  ) => invoke(token, 'delegate_task', { agent: agentName, title: 'Count', ...args }, more)

  /** The workers go on beside the call, also while agents wait for one another. @param mortal they may die in it */
  const whileWorking = async <T>(send: () => Promise<T>, mortal = false): Promise<T> => {
    const under = new Set<Promise<void>>()
    let done = false
    const answer = send().finally(() => {
      done = true
    })
    while (!done) {
      const drained = platform.drain().catch((error) => {
        if (!mortal) throw error
      })
      const work: Promise<void> = drained.finally(() => under.delete(work))
      under.add(work)
      await Promise.race([answer, pause(15)])
    }
    await Promise.all(under)
    return answer
  }

  const asking = (...args: Parameters<typeof ask>): Promise<Answer> => whileWorking(() => ask(...args))

  /** A run of the agent that was accepted and goes on, with its callback token. */
  const running = async (of: Agent, token = of.token) => {
    of.behaves(() => ACCEPT)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token, body: {} })
    await platform.drain()
    return { run: run as { id: string; chain_depth: number }, token: await callbackToken(deps, of, run.id) }
  }

  const activeRuns = async ({ installation }: Pick<Agent, 'installation'>): Promise<number> =>
    (await deps.table.get(CounterEntity, { owner: installation.id, counter: 'active_runs' }))?.n ?? 0

  const runOf = async (workspaceId: string, id: string): Promise<Run> => {
    const place = await deps.table.get(WorkspaceRunEntity, { workspace_id: workspaceId, run_id: id })
    const run = await deps.table.get(RunEntity, { installation_id: place?.installation_id ?? '', id })
    if (!run) throw new Error(`there is no run ${id}`)
    return run
  }

  /** Every run of an agent, newest first. */
  const runsOf = async ({ installation }: Pick<Agent, 'installation'>): Promise<Run[]> =>
    (await deps.table.query(RunEntity, { installation_id: installation.id }, { limit: 100 })).items

  /** The entries about calls in a workspace's audit, oldest first. */
  const audit = async (workspaceId: string) =>
    (await deps.table.query(AuditEntity, { scope: workspaceId }, { limit: 100, ascending: true })).items.filter(
      ({ action }) => action.startsWith('agent.'),
    )

  return {
    receiver,
    received,
    agent,
    team,
    invoke,
    ask,
    asking,
    delegate,
    running,
    activeRuns,
    runOf,
    runsOf,
    audit,
    whileWorking,
    close: () => receiver.close(),
  }
}

/** The same for the tests of a file. */
export const usingAgents = (platform: TestPlatform) =>
  using(
    () => createAgents(platform),
    (agents) => agents.close(),
  )
