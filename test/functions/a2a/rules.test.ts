import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { DAY, SECOND } from '#shared/kernel/clock.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { PlatformSettingsEntity } from '#shared/staff/platform/entity.ts'
import { type Run, RunEntity } from '#shared/work/runs/entity.ts'
import type { Answer } from '#testkit/platform.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingAgents } from '../api/agents-support.ts'
import { createClient, declaring } from '../mcp/mcp-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

type Agent = Awaited<ReturnType<typeof agents.agent>>

interface Asked {
  /** Declared tool and its arguments. `delegate_task` has none. */
  tool?: string
  args?: unknown
  audience?: 'member' | 'external'
}

/** A way for an agent to call another. */
interface Face {
  name: string
  /** The tool whose bans hold. */
  bans: 'ask_agent' | 'delegate_task'
  /** Kind of call in the audit. */
  kind: 'ask_agent' | 'delegate_task'
  /** The caller names a tool of the target. */
  calls: boolean
  /** The caller names the target by the id of its installation, so no name is unknown or ambiguous. */
  byId: boolean
  /** The caller names a tool of a list without agents that it may not ask. Other names don't reach admission. */
  byList?: true
  /** The target has a clock of its own. */
  ownClock: boolean
  send(token: string, target: Agent, asked?: Asked): Promise<Answer>
}

const byTool = (name: 'ask_agent' | 'delegate_task'): Face => ({
  name,
  bans: name,
  kind: name,
  calls: name === 'ask_agent',
  byId: false,
  ownClock: name === 'delegate_task',
  send: (token, { app, installation }, { tool = 'look', args = { item: 'bolt' }, audience } = {}) => {
    // Agents are called by their name, as people know them.
    const agent = installation.app_name === app.name ? app.slug : installation.app_name
    const call = name === 'ask_agent' ? { agent, tool, arguments: args } : { agent, title: 'Count' }
    return agents.invoke(token, name, { ...call, ...(audience && { audience }) })
  },
})

const messageOf = ({ tool = 'look', args = { item: 'bolt' }, audience }: Asked, returnImmediately: boolean) => ({
  message: {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ data: { skill: tool, arguments: args } }],
  },
  configuration: { returnImmediately },
  ...(audience && { metadata: { 'aip/audience': audience } }),
})

const byA2a = (binding: string, returnImmediately: boolean): Face => ({
  name: `A2A over ${binding}, ${returnImmediately ? 'at once' : 'waiting'}`,
  bans: 'ask_agent',
  kind: 'ask_agent',
  calls: true,
  byId: true,
  ownClock: returnImmediately,
  send: (token, { installation }, asked = {}) => {
    const params = messageOf(asked, returnImmediately)
    const at = `/a2a/agents/${installation.id}`
    const sent = { token, headers: { 'a2a-version': '1.0' } }
    return binding === 'JSON-RPC'
      ? platform.call('POST', `${at}/rpc`, { ...sent, body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params } })
      : platform.call('POST', `${at}/message:send`, { ...sent, body: params })
  },
})

const byMcp = (asTask: boolean): Face => ({
  name: `MCP, ${asTask ? 'as a task' : 'waiting'}`,
  bans: 'ask_agent',
  kind: 'ask_agent',
  calls: true,
  byId: true,
  byList: true,
  ownClock: asTask,
  send: (token, { slug }, { tool = 'look', args = { item: 'bolt' }, audience } = {}) => {
    const params = { name: `${slug}__${tool}`, arguments: args }
    const meta = { ...declaring({}, asTask), ...(audience && { 'aip/audience': audience }) }
    return createClient(platform, token).modern('tools/call', params, { meta })
  },
})

const FACES: Face[] = [
  byTool('ask_agent'),
  byTool('delegate_task'),
  byA2a('JSON-RPC', false),
  byA2a('HTTP+JSON', true),
  byMcp(false),
  byMcp(true),
]

/** Code of the platform's error in each form, or undefined for success. */
const codeOf = ({ body }: Answer): string | number | undefined => {
  const { error } = body
  const refused = body.result?.structuredContent?.error ?? error?.data
  if (refused?.code !== undefined) return refused.code
  if (error === undefined) return undefined
  const [info] = error.data ?? (Array.isArray(error.details) ? error.details : [])
  return info === undefined ? error.code : info.reason.toLowerCase()
}

const statusOf = (answer: Answer): number => {
  const { error, result } = answer.body
  // A refusal that a model can act on is a result of MCP, without a status.
  const refused: keyof typeof ERRORS | undefined = result?.structuredContent?.error?.code
  if (refused !== undefined) return ERRORS[refused][0]
  const code = error?.code
  return answer.status === 200 && typeof code === 'number' ? code : answer.status
}

const TOOL = {
  name: 'look',
  input_schema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
}

const scene = async (scopes?: readonly Scope[]) => {
  platform.clock.advance(2 * DAY)
  const [caller, target] = await agents.team({ ...(scopes && { scopes }) }, { tools: [TOOL] })
  return { caller, target }
}

/** Starts a run of the caller at this place of a chain. @returns its callback token */
const runAt = async (caller: Agent, place: Partial<Run>): Promise<string> => {
  const { run, token } = await agents.running(caller)
  const record = await agents.runOf(caller.workspaceId, run.id)
  await platform.deps.table.transact([RunEntity.update(record, { set: place })])
  return token
}

/** Sends a call that is admitted. @returns the target's run */
const started = async (face: Face, token: string, target: Agent, asked?: Asked): Promise<Run> => {
  const before = new Set((await agents.runsOf(target)).map(({ id }) => id))
  const answer = await agents.whileWorking(() => face.send(token, target, asked))
  expect(codeOf(answer), answer.text).toBeUndefined()
  await platform.drain()
  const [run, ...others] = (await agents.runsOf(target)).filter(({ id }) => !before.has(id))
  if (!run || others.length > 0) throw new Error(`${others.length + 1} runs`)
  return run
}

const audited = async ({ workspaceId }: Agent) =>
  (await agents.audit(workspaceId)).map(({ action, details }) => [action, details.call, details.reason])

const banEverywhere = (denied_tools: string[]) =>
  platform.deps.table.transact([PlatformSettingsEntity.replace({ name: 'tools', denied_tools, updated_at: 0 })])
afterEach(() => banEverywhere([]))

describe.each(sampleOf(FACES, 2))('a call between agents by $name', (face) => {
  /** Refusal by the switch or a policy. Agents behind them aren't listed, and the answer doesn't tell why. */
  const denied: readonly [number, string | number] = face.byList ? [-32_602, -32_602] : [403, 'tool_denied']

  /** Expects a refusal that starts nothing, and is in the audit with its reason if it is one of admission. */
  const expectRefusal = async (
    { caller, target }: { caller: Agent; target: Agent },
    answer: Answer,
    [status, code]: readonly [number, string | number],
    reason: string | number | null = code,
  ) => {
    expect([statusOf(answer), codeOf(answer)]).toEqual([status, code])
    const active = (await agents.runsOf(target)).filter((run) => run.trigger !== 'api')
    expect(active).toEqual([])
    expect(await audited(caller)).toEqual(reason === null ? [] : [['agent.call_denied', face.kind, reason]])
  }

  it('starts a run of the target one level below the caller’s, and is in the audit', async () => {
    const { caller, target } = await scene()
    const first = await started(face, caller.token, target)
    expect(first).toMatchObject({ chain_depth: 1, audience: 'member', caller: { slug: caller.slug } })
    const below = await started(face, await runAt(caller, { chain_depth: 1 }), target)
    expect(below.chain_depth).toBe(2)
    expect(below.parent_run_id).toBeDefined()
    expect(await audited(caller)).toEqual(Array(2).fill(['agent.called', face.kind, undefined]))
  })

  it('takes from the 30 calls a minute that all faces share', async () => {
    const { caller, target } = await scene()
    for (let n = 0; n < 30; n++) {
      platform.clock.advance(50)
      // Each takes from the bucket, refused ones included.
      await (n % 2 ? agents.ask(caller.token, 'nobody') : agents.delegate(caller.token, 'nobody'))
    }
    const answer = await face.send(caller.token, target)
    expect([statusOf(answer), codeOf(answer)]).toEqual([429, 'rate_limited'])
    if (!face.byList) expect(answer.headers['retry-after']).toBeDefined()
    const denied = (await audited(caller)).filter(([, , reason]) => reason === 'rate_limited')
    expect(denied).toEqual([['agent.call_denied', face.kind, 'rate_limited']])
    expect(await agents.runsOf(target)).toEqual([])
    platform.clock.advance(4 * SECOND)
    await started(face, caller.token, target)
  })

  it('takes from them, too', async () => {
    const { caller, target } = await scene()
    if (!face.byList) await target.set({ allowed_callers: [] })
    for (let n = 0; n < 30; n++) {
      platform.clock.advance(50)
      await face.send(caller.token, target, { args: {} })
    }
    expect(codeOf(await agents.ask(caller.token, 'nobody'))).toBe('rate_limited')
  })

  it('is refused while the workspace has switched calls off', async () => {
    const made = await scene()
    const key = { id: made.caller.workspaceId }
    await platform.deps.table.transact([WorkspaceEntity.update(key, { set: { cross_agent_enabled: false } })])
    await expectRefusal(made, await face.send(made.caller.token, made.target), denied, 'tool_denied')
  })

  it('is refused by the target’s policy', async () => {
    const made = await scene()
    await made.target.set({ allowed_callers: [] })
    await expectRefusal(made, await face.send(made.caller.token, made.target), denied, 'tool_denied')
  })

  it.each(['platform', 'organization', 'installation'])('is refused by a ban of the %s', async (by) => {
    const made = await scene()
    const { caller, target } = made
    const denied_tools = [face.bans]
    if (by === 'platform') await banEverywhere(denied_tools)
    else if (by === 'installation') await caller.set({ denied_tools })
    else {
      await platform.deps.table.transact([
        WorkspaceEntity.update({ id: caller.workspaceId }, { set: { denied_tools } }),
      ])
    }
    const answer = await face.send(caller.token, target)
    // Bans of tools are checked before the call begins.
    await expectRefusal(made, answer, [face.byList ? -32_602 : 403, 'tool_denied'], null)
    expect(answer.text).toContain(face.bans)
  })

  it('reaches no agent that isn’t active, isn’t there, or is the caller itself', async () => {
    const { caller, target } = await scene()
    const [stranger] = await agents.team({})
    const unknown = face.byList ? -32_602 : face.byId ? 'not_found' : 'unknown_agent'
    expect(codeOf(await face.send(caller.token, caller))).toBe(unknown)
    expect(codeOf(await face.send(caller.token, stranger))).toBe(unknown)
    await target.set({ status: 'suspended' })
    expect(codeOf(await face.send(caller.token, target))).toBe(unknown)
    for (const one of [caller, stranger, target]) expect(await agents.runsOf(one)).toEqual([])
  })

  it('never guesses which of two agents of one name is meant', async () => {
    platform.clock.advance(2 * DAY)
    const named = { name: 'Twin', tools: [TOOL] }
    const [caller, one, other] = await agents.team({}, named, named)
    const twin = { ...one, installation: { ...one.installation, app_name: 'Twin' } }
    if (face.byId) await started(face, caller.token, twin)
    else expect(codeOf(await face.send(caller.token, twin))).toBe('ambiguous_agent')
    expect(await agents.runsOf(other)).toEqual([])
    expect((await agents.runsOf(one)).length).toBe(face.byId ? 1 : 0)
  })

  it.runIf(face.calls)(
    'is refused for a tool that the target doesn’t declare, and for arguments that don’t fit',
    async () => {
      const made = await scene()
      const { caller, target } = made
      // A2A has one code for wrong parameters.
      const status = face.byId && !face.byList ? (face.name.includes('HTTP+JSON') ? 400 : -32_602) : 422
      const undeclared = await face.send(caller.token, target, { tool: 'other' })
      const refusal = face.byList ? denied : ([status, 'tool_not_offered'] as const)
      await expectRefusal(made, undeclared, refusal, 'tool_not_offered')
      for (const args of [{}, { item: 7 }]) {
        const answer = await face.send(caller.token, target, { args })
        expect([statusOf(answer), codeOf(answer)]).toEqual([status, 'invalid_arguments'])
      }
      expect(await agents.runsOf(target)).toEqual([])
      const reasons = (await audited(caller)).map(([, , reason]) => reason)
      expect(reasons.sort()).toEqual(['invalid_arguments', 'invalid_arguments', 'tool_not_offered'])
    },
  )

  it('is refused below the third level', async () => {
    const made = await scene()
    const token = await runAt(made.caller, { chain_depth: 3 })
    await expectRefusal(made, await face.send(token, made.target), [409, 'chain_too_deep'])
  })

  it('is refused once the chain’s time is over', async () => {
    const made = await scene()
    const over = await runAt(made.caller, { chain_depth: 1, chain_deadline: platform.clock.now() })
    await expectRefusal(made, await face.send(over, made.target), [409, 'chain_budget_exceeded'])
  })

  it('shares the chain’s time if the caller waits, and has its own otherwise', async () => {
    const { caller, target } = await scene()
    const until = platform.clock.now() + 40 * SECOND
    const token = await runAt(caller, { chain_depth: 1, chain_deadline: until })
    const run = await started(face, token, target)
    if (face.ownClock) expect(run.chain_deadline).toBeGreaterThan(until)
    else expect(run.chain_deadline).toBe(until)
  })

  it('is external if the call says so or the caller’s run is, and never less', async () => {
    const { caller, target } = await scene()
    expect((await started(face, caller.token, target, { audience: 'external' })).audience).toBe('external')
    const token = await runAt(caller, { audience: 'external' })
    expect((await started(face, token, target, { audience: 'member' })).audience).toBe('external')
  })

  it('doesn’t change the target’s limit of five active runs', async () => {
    const { caller, target } = await scene()
    for (let n = 0; n < 5; n++) await agents.running(target)
    const answer = await face.send(caller.token, target)
    expect([statusOf(answer), codeOf(answer)]).toEqual([409, 'too_many_active_runs'])
    expect((await agents.runsOf(target)).length).toBe(5)
  })

  it('is refused to a run that has ended', async () => {
    const { caller, target } = await scene()
    const { run, token } = await agents.running(caller)
    await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: caller.token })
    expect(codeOf(await face.send(token, target))).toBe('run_already_finished')
    expect(await agents.runsOf(target)).toEqual([])
  })

  it('needs its scope', async () => {
    const { caller, target } = await scene(['workspace:read', 'runs:read', 'agents:read', 'tasks:read'])
    const answer = await face.send(caller.token, target)
    expect([statusOf(answer), codeOf(answer)]).toEqual([403, 'insufficient_scope'])
    expect(await agents.runsOf(target)).toEqual([])
  })
})
