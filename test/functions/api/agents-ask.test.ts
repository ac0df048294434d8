import { describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, type Behaviour, succeedsWith, usingAgents } from './agents-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

describe('ask_agent', () => {
  it('answers with the target’s output as a quoted source, and records a step of it', async () => {
    const [caller, target] = await agents.team({}, { behaviour: succeedsWith({ stock: 3 }), name: 'Stock helper' })
    const { run, token } = await agents.running(caller)
    const answer = await agents.asking(token, target.slug, { arguments: { item: 'bolt' } })
    expect(answer.body).toEqual({
      status: 'ok',
      result: {
        agent: 'Stock helper',
        tool: 'look',
        status: 'succeeded',
        source: `agent:${target.slug}`,
        untrusted: true,
        output: { stock: 3 },
        chain_depth: 1,
      },
    })
    const { body } = await platform.call('GET', `/api/v1/runs/${run.id}`, { token })
    expect(body.steps).toMatchObject([
      { type: 'tool_call', tool: 'ask_agent', output: { result: { status: 'succeeded' } } },
    ])
  })

  it('sends the target the tool, its arguments, the asking agent and the position in the chain', async () => {
    const [caller, target] = await agents.team({}, {})
    const { run, token } = await agents.running(caller)
    await agents.asking(token, target.slug, { arguments: { item: 'bolt' } })
    const execute = agents.received.at(-1)
    expect(execute).toMatchObject({
      type: 'run.execute',
      run: { trigger: 'agent', input: { item: 'bolt' } },
      tool: 'look',
      arguments: { item: 'bolt' },
      actor: null,
      audience: 'member',
      caller: {
        installation_id: caller.installation.id,
        app_id: caller.app.id,
        slug: caller.slug,
        name: caller.app.name,
        run_id: run.id,
        audience: 'member',
      },
      chain: { depth: 1 },
      installation: { owner: { id: target.person.user.id, name: target.person.user.name } },
    })
    const asked = await agents.runOf(caller.workspaceId, execute.run.id)
    expect(asked).toMatchObject({ parent_run_id: run.id, chain_depth: 1, installation_id: target.installation.id })
  })

  it('works without a run, and reports that there is none', async () => {
    const [caller, target] = await agents.team({}, {})
    const { body } = await agents.asking(caller.token, target.slug)
    expect(body.result).toMatchObject({ status: 'succeeded', chain_depth: 1 })
    expect(agents.received.at(-1).caller.run_id).toBeNull()
  })

  it('waits for a target that answers 202 and completes its run later', async () => {
    const later: Behaviour = ({ run, callback }) => {
      setTimeout(() => {
        void platform.call('POST', `/api/v1/runs/${run.id}/complete`, {
          token: callback.token,
          body: { status: 'succeeded', output: { late: true } },
        })
      })
      return ACCEPT
    }
    const [caller, target] = await agents.team({}, { behaviour: later })
    const { body } = await agents.asking(caller.token, target.slug)
    expect(body.result).toMatchObject({ status: 'succeeded', output: { late: true } })
  })

  it('requires the scope runs:write in addition to tools:invoke', async () => {
    const [caller, target] = await agents.team({ scopes: ['tools:invoke'] }, {})
    const { status, body } = await agents.ask(caller.token, target.slug)
    expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
  })
})

describe('the name of an agent', () => {
  it('is matched as a slug before it is matched as a name', async () => {
    const [caller, meant] = await agents.team({}, { behaviour: succeedsWith({ who: 'slug' }) })
    await agents.agent({ workspaceId: caller.workspaceId, name: meant.slug, behaviour: succeedsWith({ who: 'name' }) })
    const { body } = await agents.asking(caller.token, meant.slug)
    expect(body.result.output).toEqual({ who: 'slug' })
  })

  it('is matched whole and case-sensitively', async () => {
    const [caller] = await agents.team({}, { name: 'Stock Helper' })
    expect((await agents.asking(caller.token, 'Stock Helper')).body.result.status).toBe('succeeded')
    for (const named of ['Stock', 'stock helper', 'Stock Helper ', 'Stock  Helper', '%', '*']) {
      const { status, body } = await agents.ask(caller.token, named)
      expect([named, status, body.error.code]).toEqual([named, 404, 'unknown_agent'])
    }
  })

  it('is ambiguous when two agents share it, unlike their slugs', async () => {
    const [caller, one, other] = await agents.team({}, { name: 'Twin' }, { name: 'Twin' })
    const { status, body } = await agents.ask(caller.token, 'Twin')
    expect([status, body.error.code]).toEqual([409, 'ambiguous_agent'])
    expect(body.error.details.available.map((agent: { slug: string }) => agent.slug).sort()).toEqual(
      [one.slug, other.slug].sort(),
    )
    expect((await agents.asking(caller.token, other.slug)).body.result.status).toBe('succeeded')
  })

  it('must not be the caller’s own', async () => {
    const [caller, other] = await agents.team({ name: 'Me' }, { name: 'Other' })
    for (const named of [caller.slug, 'Me']) {
      const { status, body } = await agents.ask(caller.token, named)
      expect([status, body.error.code]).toEqual([404, 'unknown_agent'])
      expect(body.error.details.available).toEqual([{ slug: other.slug, name: 'Other' }])
    }
  })

  it('is unknown for another workspace’s agent, a suspended agent or a suspended app', async () => {
    const [caller, suspended, withdrawn] = await agents.team({}, {}, {})
    const [elsewhere] = await agents.team({})
    await suspended.set({ status: 'suspended' })
    await platform.deps.table.transact([AppEntity.update(withdrawn.app, { set: { status: 'suspended' } })])
    for (const { slug } of [elsewhere, suspended, withdrawn]) {
      const { status, body } = await agents.ask(caller.token, slug)
      expect([status, body.error.code, body.error.details.available]).toEqual([404, 'unknown_agent', []])
    }
  })

  it('is answered with the agents that the caller may call when it is unknown', async () => {
    const [caller, open, bySlug] = await agents.team({}, {}, {}, {}, {})
    const [, , , closed, forOthers] = await Promise.all([
      null,
      null,
      bySlug.set({ allowed_callers: [caller.slug] }),
      agents.agent({ workspaceId: caller.workspaceId }),
      agents.agent({ workspaceId: caller.workspaceId }),
    ])
    await closed.set({ allowed_callers: [] })
    await forOthers.set({ allowed_callers: [open.slug] })
    const { body } = await agents.ask(caller.token, 'nobody')
    const slugs = body.error.details.available.map((agent: { slug: string }) => agent.slug)
    expect(slugs).toEqual(expect.arrayContaining([open.slug, bySlug.slug]))
    expect(slugs).not.toContain(closed.slug)
    expect(slugs).not.toContain(forOthers.slug)
  })
})

describe('the policy of an agent', () => {
  it.each([
    ['allows every agent for null', () => null, true],
    ['allows no agent for an empty list', () => [], false],
    ['allows the agent with a listed slug', (slug: string) => ['other-agent', slug], true],
    ['denies agents that are not listed', () => ['other-agent'], false],
  ])('%s', async (_what, callers, allowed) => {
    const [caller, target] = await agents.team({}, {})
    await target.set({ allowed_callers: callers(caller.slug) })
    const answers = [
      await agents.asking(caller.token, target.slug),
      await agents.delegate(caller.token, target.slug, { start_now: false }),
    ]
    for (const { status, body } of answers) {
      expect(status).toBe(allowed ? 200 : 403)
      if (!allowed) expect(body.error).toMatchObject({ code: 'tool_denied', details: { reason: 'agent_policy' } })
    }
  })

  it('is overridden by the workspace’s switch', async () => {
    const [caller, target] = await agents.team({}, {})
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: caller.workspaceId }, { set: { cross_agent_enabled: false } }),
    ])
    for (const { status, body } of [
      await agents.ask(caller.token, target.slug),
      await agents.delegate(caller.token, 'nobody'),
    ]) {
      expect([status, body.error.code, body.error.details.reason]).toEqual([403, 'tool_denied', 'organization'])
    }
  })
})

describe('a tool of another agent', () => {
  it('must be declared by its installed version, regardless of newer versions', async () => {
    const [caller, target] = await agents.team({}, { tools: [{ name: 'look', input_schema: { type: 'object' } }] })
    const { table, clock } = platform.deps
    const manifest = {
      ...JSON.parse((target.version.manifest as { json: string }).json),
      version: '2.0.0',
      tools: [{ name: 'newer', description: 'Newer.', input_schema: { type: 'object' } }],
    }
    const newer = {
      ...target.version,
      id: newId('version', clock.now()),
      version: '2.0.0',
      manifest: { json: JSON.stringify(manifest) },
    }
    await table.transact([
      VersionEntity.create(newer),
      AppEntity.update(target.app, { set: { promoted_version: '2.0.0', promoted_version_id: newer.id } }),
    ])
    expect((await agents.asking(caller.token, target.slug, { tool: 'look' })).body.result.status).toBe('succeeded')
    const { status, body } = await agents.ask(caller.token, target.slug, { tool: 'newer' })
    expect([status, body.error.code]).toEqual([422, 'tool_not_offered'])
    expect(body.error.details.available).toEqual(['look'])
  })

  const schema = {
    type: 'object',
    required: ['item', '__proto__'],
    properties: {
      item: { type: 'string', minLength: 5, pattern: '^x' },
      count: { type: 'integer' },
      price: { type: 'number' },
      deep: { type: 'object', required: ['inside'], properties: { inside: { type: 'string' } } },
      list: { type: 'array', items: { type: 'string' } },
      maybe: { type: ['string', 'null'] },
      flag: { type: 'boolean' },
      open: {},
      odd: { type: 'constructor' },
    },
    additionalProperties: false,
  }
  const required = { type: 'object', required: ['item'], properties: schema.properties }

  it.each([
    [{ item: 'b' }, 'a string'],
    [{ item: 'b', count: 3, price: 3 }, 'an integer as a number'],
    [{ item: 'b', count: 3.0, price: 0.5 }, 'numbers'],
    [{ item: 'b', deep: { inside: 4, other: [] } }, 'nested values are not validated'],
    [{ item: 'b', list: [1, null] }, 'list items are not validated'],
    [{ item: 'b', maybe: null }, 'one of several types'],
    [{ item: 'b', open: [1] }, 'a property without a type'],
    [{ item: 'b', odd: 1 }, 'an unknown type'],
    [{ item: 'b', more: true }, 'an undeclared property'],
  ])('accepts %j: %s', async (args, _why) => {
    const [caller, target] = await agents.team({}, { tools: [{ name: 'look', input_schema: required }] })
    const { body } = await agents.asking(caller.token, target.slug, { arguments: args })
    expect(body.result?.status).toBe('succeeded')
  })

  it.each([
    [{}, { item: ['is required'] }],
    [{ item: 5 }, { item: ['must be of type string'] }],
    [{ item: null }, { item: ['must be of type string'] }],
    [{ item: 'b', count: 3.5 }, { count: ['must be of type integer'] }],
    [{ item: 'b', count: '3' }, { count: ['must be of type integer'] }],
    [{ item: 'b', price: '3' }, { price: ['must be of type number'] }],
    [{ item: 'b', deep: [] }, { deep: ['must be of type object'] }],
    [{ item: 'b', deep: null }, { deep: ['must be of type object'] }],
    [{ item: 'b', list: { length: 0 } }, { list: ['must be of type array'] }],
    [{ item: 'b', maybe: 1 }, { maybe: ['must be of type string or null'] }],
    [
      { count: true, flag: 0 },
      { item: ['is required'], count: ['must be of type integer'], flag: ['must be of type boolean'] },
    ],
  ])('refuses %j', async (args, fields) => {
    const [caller, target] = await agents.team({}, { tools: [{ name: 'look', input_schema: required }] })
    const { status, body } = await agents.ask(caller.token, target.slug, { arguments: args })
    expect([status, body.error.code]).toEqual([422, 'invalid_arguments'])
    expect(body.error.details.fields).toEqual(fields)
    expect(await agents.runsOf(target)).toEqual([])
  })

  it('requires __proto__ as an own property when its schema does', async () => {
    const [caller, target] = await agents.team({}, { tools: [{ name: 'look', input_schema: schema }] })
    const { status, body } = await agents.ask(caller.token, target.slug, { arguments: { item: 'b' } })
    expect([status, body.error.code]).toEqual([422, 'invalid_arguments'])
  })

  it('isn’t called when the arguments of ask_agent itself are invalid', async () => {
    const [caller, target] = await agents.team({}, {})
    for (const args of [{ arguments: 'x' }, { audience: 'public' }, { tool: '' }, { more: 1 }]) {
      const { status, body } = await agents.ask(caller.token, target.slug, args)
      expect([status, body.error.code]).toEqual([422, 'validation_error'])
    }
    expect(await agents.audit(caller.workspaceId)).toEqual([])
  })
})

describe('the audit', () => {
  it('has every call once, with the target, the tool and the run', async () => {
    const [caller, target] = await agents.team({}, {})
    const { run, token } = await agents.running(caller)
    await agents.asking(token, target.slug)
    platform.clock.advance(1)
    const { body } = await agents.delegate(token, target.slug)
    const [asked] = (await agents.runsOf(target)).filter(({ trigger }) => trigger === 'agent')
    const common = {
      action: 'agent.called',
      actor: { type: 'agent', id: caller.installation.id },
      target: { type: 'agent', id: target.installation.id },
    }
    const details = { caller: caller.slug, agent: target.slug, run_id: run.id, chain_depth: 1 }
    expect(await agents.audit(caller.workspaceId)).toMatchObject([
      { ...common, details: { ...details, call: 'ask_agent', tool: 'look', target_run_id: asked?.id } },
      {
        ...common,
        details: { ...details, call: 'delegate_task', task_id: body.result.task_id, target_run_id: body.result.run_id },
      },
    ])
  })

  it('has every refusal with its code, and a refused call has no other effect', async () => {
    const [caller, target, closed, noTasks] = await agents.team(
      {},
      { tools: [{ name: 'look', input_schema: { type: 'object', required: ['item'] } }] },
      {},
      { scopes: ['runs:write'] },
    )
    await closed.set({ allowed_callers: [] })
    await agents.agent({ workspaceId: caller.workspaceId, name: 'Twin' })
    await agents.agent({ workspaceId: caller.workspaceId, name: 'Twin' })
    const refusals: [string, () => Promise<{ body: { error: { code: string } } }>][] = [
      ['unknown_agent', () => agents.ask(caller.token, 'nobody')],
      ['ambiguous_agent', () => agents.ask(caller.token, 'Twin')],
      ['tool_not_offered', () => agents.ask(caller.token, target.slug, { tool: 'other' })],
      ['invalid_arguments', () => agents.ask(caller.token, target.slug)],
      ['tool_denied', () => agents.ask(caller.token, closed.slug)],
      ['unknown_agent', () => agents.delegate(caller.token, 'nobody')],
      ['ambiguous_agent', () => agents.delegate(caller.token, 'Twin')],
      ['tool_denied', () => agents.delegate(caller.token, closed.slug)],
      ['agent_cannot_take_tasks', () => agents.delegate(caller.token, noTasks.slug)],
    ]
    for (const [code, send] of refusals) expect((await send()).body.error.code).toBe(code)
    const entries = await agents.audit(caller.workspaceId)
    expect(entries.map(({ action }) => action)).toEqual(refusals.map(() => 'agent.call_denied'))
    expect(entries.map(({ details }) => details.reason).sort()).toEqual(refusals.map(([code]) => code).sort())
    expect(await agents.runsOf(target)).toEqual([])
  })

  it('bounds the names that callers send', async () => {
    const [caller] = await agents.team({})
    await agents.ask(caller.token, `${'😀'.repeat(50)}`, { tool: 't'.repeat(100) })
    await agents.ask(caller.token, `x${'😀'.repeat(50)}`)
    for (const { target } of await agents.audit(caller.workspaceId)) {
      expect(target?.id.length).toBeLessThanOrEqual(100)
      expect(target?.id.isWellFormed()).toBe(true)
    }
  })
})
