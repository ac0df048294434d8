import { setTimeout as pause } from 'node:timers/promises'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { activeRuns, callbackToken, installed } from '#testkit/fixtures.ts'
import type { Answer, TestPlatform } from '#testkit/platform.ts'
import { type Answer as Reply, startReceiver } from '#testkit/receiver.ts'
import { using } from '#testkit/using.ts'

/** Request that an agent receives. */
// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
export type Execute = any

export type Behaviour = (execute: Execute) => unknown | Promise<unknown>

/** Raw answer for agents that misbehave below the level of JSON. */
export class Raw {
  readonly reply: Reply
  constructor(reply: Reply) {
    this.reply = reply
  }
}

export const ACCEPT = new Raw({ kind: 'answer', status: 202 })

/** Returns the behaviour of an agent that succeeds with this output. */
export const succeedsWith = (output: unknown) => () => ({ status: 'succeeded', output })

const ANYTHING = { type: 'object' }

export interface AgentOptions {
  behaviour?: Behaviour
  tools?: { name: string; input_schema: Record<string, unknown>; mcp?: object }[]
  name?: string
  scopes?: readonly Scope[]
  workspaceId?: string
  /** The agent gets run.execute again after answers and decisions. */
  resume?: boolean
  /** Attempts of a run. */
  maxAttempts?: number
}

/** Starts a receiver for agents of one workspace, with functions to install, call and inspect them. */
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

  /** Installs an agent that declares the tool `look`, or the given tools. */
  const agent = async ({
    behaviour = succeedsWith({ ok: true }),
    tools,
    name,
    scopes,
    workspaceId,
    resume = false,
    maxAttempts,
  }: AgentOptions = {}) => {
    const path = `/${behaviours.size + 1}`
    behaviours.set(path, behaviour)
    const made = await installed(deps, {
      endpoint: `${receiver.url}${path}`,
      resume,
      ...(maxAttempts && { maxAttempts }),
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
      InstallationEntity.update(made.installation, { set: { app_name: name ?? app.name } }),
    ])
    return {
      ...made,
      slug: app.slug,
      /** Replaces the agent's behaviour. */
      behaves: (now: Behaviour) => behaviours.set(path, now),
      set: (set: Parameters<typeof InstallationEntity.update>[1]['set']) =>
        deps.table.transact([InstallationEntity.update(made.installation, { set })]),
    }
  }
  type Agent = Awaited<ReturnType<typeof agent>>

  /** Installs agents in one workspace, in order. */
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

  /** Asks an agent without running the workers. For calls that don't wait. */
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

  /** Runs the workers during a call, even while agents wait for each other. @param mortal whether a worker may crash */
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

  /** Starts a run that the agent accepts and keeps running, with its callback token. */
  const running = async (of: Agent, token = of.token) => {
    of.behaves(() => ACCEPT)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token, body: {} })
    await platform.drain()
    return { run: run as { id: string; chain_depth: number }, token: await callbackToken(deps, of, run.id) }
  }

  const runOf = async (workspaceId: string, id: string): Promise<Run> => {
    const place = await deps.table.get(WorkspaceRunEntity, { workspace_id: workspaceId, run_id: id })
    const run = await deps.table.get(RunEntity, { installation_id: place?.installation_id ?? '', id })
    if (!run) throw new Error(`no run ${id}`)
    return run
  }

  /** Lists every run of an agent, newest first. */
  const runsOf = async ({ installation }: Pick<Agent, 'installation'>): Promise<Run[]> =>
    (await deps.table.query(RunEntity, { installation_id: installation.id }, { limit: 100 })).items

  /** Lists a workspace's audit entries about calls, oldest first. */
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
    activeRuns: (of: Pick<Agent, 'installation'>) => activeRuns(deps, of),
    runOf,
    runsOf,
    audit,
    whileWorking,
    close: () => receiver.close(),
  }
}

/** Starts agents for the tests of a file. */
export const usingAgents = (platform: TestPlatform) =>
  using(
    () => createAgents(platform),
    (agents) => agents.close(),
  )
