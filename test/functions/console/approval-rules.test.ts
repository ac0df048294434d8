import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, type Role } from '#shared/identity/people/entity.ts'
import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { ApprovalEntity, RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()
beforeEach(async () => {
  platform.clock.advance(60_000)
  // Calls that the test before approved.
  await platform.drain()
  agent.answer({ kind: 'answer', status: 202 })
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
  page.requests.length = 0
})

type Someone = Awaited<ReturnType<typeof member>>

const scene = async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const owner = app.person
  const join = (role: Role) => member(platform.deps, app.workspaceId, role)
  const as = (person: Someone, method: string, path: string, body?: object) => {
    platform.clock.advance(1_000)
    return platform.call(method, path, { token: person.token, body })
  }
  const rules = async (...list: object[]) => {
    const named = list.map((rule, i) => ({ name: `Rule ${i + 1}`, ...rule }))
    return succeeded(as(owner, 'PUT', '/console/settings/approvals', { rules: named }))
  }
  const ask = async (args: object = {}, from = app) => {
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: from.token, body: {} })
    await platform.drain()
    const token = await callbackToken(platform.deps, from, run.id)
    const invoke = async () =>
      platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
        token,
        body: { arguments: { url: page.url, method: 'POST', ...args } },
      })
    const { body } = await invoke()
    const path = `/console/runs/${run.id}/steps/${body.step_id}`
    const decide = (person: Someone, decision = 'approve') => as(person, 'POST', `${path}/decision`, { decision })
    const ruling = async (person: Someone) => (await as(person, 'GET', `${path}/approval`)).body.rule
    const stored = () => platform.deps.table.get(ApprovalEntity, { run_id: run.id, step_id: body.step_id })
    return { run, step_id: body.step_id as string, token, invoke, decide, ruling, stored }
  }
  return { app, owner, join, as, rules, ask }
}

/** Expects an approval to be refused, and the call not to be sent. */
const refused = async (answer: Promise<{ status: number; body: { error: { code: string; message: string } } }>) => {
  const { status, body } = await answer
  expect([status, body.error?.code]).toEqual([403, 'forbidden'])
  await platform.drain()
  expect(page.requests).toHaveLength(0)
  return body.error.message
}

const OWNERS = { approvers: { role: 'owner' } }
const MEMBERS = { approvers: { role: 'member' } }

describe('who may approve', () => {
  it('is any member without rules', async () => {
    const { join, ask } = await scene()
    const call = await ask()
    expect(await call.ruling(await join('member'))).toMatchObject({ name: null, required: 1, you_may_approve: true })
    expect((await call.decide(await join('member'))).status).toBe(200)
    await platform.drain()
    expect(page.requests).toHaveLength(1)
  })

  it('is decided by the first rule that the call matches, by agent, tool and host', async () => {
    const { app, owner, join, rules, ask } = await scene()
    const other = await installed(platform.deps, { endpoint: agent.url, workspaceId: app.workspaceId })
    await rules(
      { ...MEMBERS, app_ids: [other.app.id] },
      { ...MEMBERS, hosts: ['127.0.0.1'], tools: ['save_file'] },
      { ...OWNERS, hosts: ['127.0.0.1'] },
      MEMBERS,
    )
    const person = await join('admin')
    const call = await ask()
    expect(await call.ruling(person)).toMatchObject({ name: 'Rule 3', approvers: 'an owner', you_may_approve: false })
    expect(await refused(call.decide(person))).toContain('“Rule 3” lets an owner')
    expect((await call.decide(owner)).status).toBe(200)
    expect((await (await ask({}, other)).decide(person)).status).toBe(200)
  })

  it('can be people of any role', async () => {
    const { join, rules, ask } = await scene()
    const [chosen, admin] = [await join('member'), await join('admin')]
    await rules({ approvers: { role: null, user_ids: [chosen.user.id] } })
    const call = await ask()
    await refused(call.decide(admin))
    expect((await call.decide(chosen)).status).toBe(200)
  })

  it('applies as of the decision: a later rule, and a role that was lost', async () => {
    const { app, join, rules, ask } = await scene()
    const person = await join('admin')
    const call = await ask()
    await rules({ approvers: { role: 'admin' } })
    const key = { workspace_id: app.workspaceId, user_id: person.user.id }
    await platform.deps.table.transact([MemberEntity.update(key, { set: { role: 'member' } })])
    await refused(call.decide(person))
    await platform.deps.table.transact([MemberEntity.update(key, { set: { role: 'admin' } })])
    expect((await call.decide(person)).status).toBe(200)
  })

  it('leaves rejecting to everyone who sees the call', async () => {
    const { join, rules, ask } = await scene()
    await rules(OWNERS)
    expect((await (await ask()).decide(await join('member'), 'reject')).status).toBe(200)
  })

  it('can leave out the person who started the run', async () => {
    const { app, owner, join, rules, ask } = await scene()
    await rules({ ...MEMBERS, requester_may_approve: false })
    const call = await ask()
    await platform.deps.table.transact([
      RunEntity.update(
        { installation_id: app.installation.id, id: call.run.id },
        { set: { actor: { id: owner.user.id, name: owner.user.name } } },
      ),
    ])
    await refused(call.decide(owner))
    expect((await call.decide(await join('member'))).status).toBe(200)
  })

  it('can’t be changed by an admin, nor from a version that isn’t the latest', async () => {
    const { owner, join, as, rules } = await scene()
    const { revision } = await rules(OWNERS)
    const change = { rules: [], revision: revision - 1 }
    expect((await as(await join('admin'), 'PUT', '/console/settings/approvals', { rules: [] })).status).toBe(403)
    expect((await as(owner, 'PUT', '/console/settings/approvals', change)).body.error.code).toBe('conflict')
    expect((await as(owner, 'GET', '/console/settings/approvals')).body.rules).toHaveLength(1)
  })

  it('can’t be set for an app that the workspace never had', async () => {
    const { app, owner, as } = await scene()
    const elsewhere = await installed(platform.deps)
    const rule = { name: 'Rule', ...OWNERS, app_ids: [app.app.id, elsewhere.app.id] }
    const { status, body } = await as(owner, 'PUT', '/console/settings/approvals', { rules: [rule] })
    expect([status, body.error.code]).toEqual([422, 'validation_error'])
    expect(body.error.message).toContain(elsewhere.app.id)
  })

  it('can’t be an agent: no token of an integration decides', async () => {
    const { app, rules, ask } = await scene()
    await rules(OWNERS)
    const call = await ask()
    for (const token of [app.token, call.token]) {
      const path = `/console/runs/${call.run.id}/steps/${call.step_id}/decision`
      expect((await platform.call('POST', path, { token, body: { decision: 'approve' } })).status).toBe(401)
    }
    expect((await call.invoke()).body.status).toBe('awaiting_approval')
  })
})

describe('two people', () => {
  const TWO = { ...MEMBERS, second_person: { when: 'always' } }

  it('have to approve, and not the same one twice', async () => {
    const { app, owner, join, rules, ask } = await scene()
    await rules(TWO)
    const other = await join('member')
    const call = await ask()
    expect((await call.decide(owner)).body.status).toBe('awaiting_approval')
    expect((await call.decide(owner)).body.error.code).toBe('approval_already_decided')
    await platform.drain()
    expect(page.requests).toHaveLength(0)
    expect((await call.invoke()).body.status).toBe('awaiting_approval')
    expect(await call.ruling(other)).toMatchObject({ required: 2, approved_by: [{ by: { id: owner.user.id } }] })
    expect((await call.decide(other)).body.status).toBe('running')
    await platform.drain()
    expect(page.requests).toHaveLength(1)
    const { receipt } = (await call.invoke()).body
    const claims = JSON.parse(Buffer.from(receipt.split('.')[1], 'base64url').toString())
    expect(claims).toMatchObject({
      sub: other.user.id,
      approvals: { given: 2, required: 2 },
      approved_before_by: [owner.user.id],
    })
    const { body } = await platform.call('GET', '/console/audit', { token: app.person.token })
    const actions = body.items.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['approval.first_approved', 'approval.approved']))
  })

  it('of whom one rejects, stop the call', async () => {
    const { owner, join, rules, ask } = await scene()
    await rules(TWO)
    const call = await ask()
    await call.decide(owner)
    expect((await call.decide(await join('member'), 'reject')).body.status).toBe('running')
    expect((await call.invoke()).body.status).toBe('rejected')
    await platform.drain()
    expect(page.requests).toHaveLength(0)
  })

  it('count only as long as they may approve', async () => {
    const { app, owner, join, rules, ask } = await scene()
    await rules({ approvers: { role: 'admin' }, second_person: { when: 'always' } })
    const leaver = await join('admin')
    const call = await ask()
    await call.decide(leaver)
    const key = { workspace_id: app.workspaceId, user_id: leaver.user.id }
    await platform.deps.table.transact([MemberEntity.update(key, { set: { role: 'member' } })])
    expect((await call.decide(owner)).body.status).toBe('awaiting_approval')
    expect((await call.decide(await join('admin'))).body.status).toBe('running')
  })

  it('are one person each, also if they approve at the same moment', async () => {
    const { owner, join, rules, ask } = await scene()
    await rules(TWO)
    const other = await join('member')
    const call = await ask()
    await Promise.all([call.decide(owner), call.decide(owner), call.decide(owner)])
    expect((await call.stored())?.status).toBe('pending')
    expect((await call.stored())?.votes).toHaveLength(1)
    await call.decide(other)
    expect((await call.stored())?.status).toBe('approved')
  })

  it('can’t be replaced by writing the first one’s receipt into the record', async () => {
    const { owner, rules, ask } = await scene()
    await rules(TWO)
    const call = await ask()
    await call.decide(owner)
    const receipt = (await call.stored())?.votes?.[0]?.receipt as string
    const forged = { status: 'approved' as const, receipt, due_at: 1 }
    await platform.deps.table.transact([
      ApprovalEntity.update({ run_id: call.run.id, step_id: call.step_id }, { set: forged }),
    ])
    await platform.sweep()
    await platform.drain()
    expect(page.requests).toHaveLength(0)
    expect((await call.invoke()).body.result).toMatchObject({ error: 'receipt_invalid' })
  })

  it('are asked from a number in the arguments on, and if it can’t be read without doubt', async () => {
    const { owner, rules, ask } = await scene()
    await rules({ ...MEMBERS, second_person: { when: 'at_least', field: 'body.payment.amount', amount: 1_000 } })
    const json = { 'content-type': 'application/json' }
    const needed = async (body: string) => (await (await ask({ body, headers: json })).ruling(owner)).required
    expect(await needed('{"payment":{"amount":999.99}}')).toBe(1)
    expect(await needed('{"payment":{"amount":"999"}}')).toBe(1)
    expect(await needed('{"payment":{"amount":1000}}')).toBe(2)
    expect(await needed('{"payment":{"amount":-5000}}')).toBe(2)
    expect(await needed('{"payment":{"amount":5000,"amount":1}}')).toBe(2)
  })
})

describe('a person who is away', () => {
  const until = () => new Date(platform.clock.now() + 8 * HOUR).toISOString()

  it('is represented by their delegate, who can’t pass that on, until the time is over', async () => {
    const { app, owner, join, as, rules, ask } = await scene()
    await rules(OWNERS)
    const [delegate, third] = [await join('member'), await join('member')]
    await as(owner, 'PUT', '/console/me/away', { delegate_id: delegate.user.id, until: until() })
    await as(delegate, 'PUT', '/console/me/away', { delegate_id: third.user.id, until: until() })
    const call = await ask()
    await refused(call.decide(third))
    expect(await call.ruling(delegate)).toMatchObject({ you_may_approve: true, on_behalf_of: { id: owner.user.id } })
    expect((await call.decide(delegate)).status).toBe(200)
    expect((await call.stored())?.on_behalf_of?.id).toBe(owner.user.id)
    platform.clock.advance(9 * HOUR)
    expect((await as(delegate, 'GET', '/console/me/away')).status).toBe(200)
    const later = await ask(
      { body: 'later' },
      await installed(platform.deps, { endpoint: agent.url, workspaceId: app.workspaceId }),
    )
    page.requests.length = 0
    await refused(later.decide(delegate))
  })

  it('is one person together with their delegate', async () => {
    const { owner, join, as, rules, ask } = await scene()
    const delegate = await join('member')
    await rules({ ...OWNERS, second_person: { when: 'always' } })
    await as(owner, 'PUT', '/console/me/away', { delegate_id: delegate.user.id, until: until() })
    const call = await ask()
    expect((await call.decide(delegate)).body.status).toBe('awaiting_approval')
    await refused(call.decide(owner))
    expect((await call.decide(await join('owner'))).body.status).toBe('running')
  })

  it('isn’t represented in runs that they started, if the rule leaves the starter out', async () => {
    const { app, owner, join, as, rules, ask } = await scene()
    const delegate = await join('member')
    await rules({ ...OWNERS, requester_may_approve: false })
    await as(owner, 'PUT', '/console/me/away', { delegate_id: delegate.user.id, until: until() })
    const call = await ask()
    await platform.deps.table.transact([
      RunEntity.update(
        { installation_id: app.installation.id, id: call.run.id },
        { set: { actor: { id: owner.user.id, name: owner.user.name } } },
      ),
    ])
    await refused(call.decide(delegate))
  })
})

it('a call expires when its rule says', async () => {
  const { rules, ask } = await scene()
  await rules({ ...MEMBERS, expires_after_minutes: 30 })
  const call = await ask()
  platform.clock.advance(31 * MINUTE)
  await platform.sweep()
  await platform.drain()
  expect((await call.stored())?.status).toBe('rejected')
})
