import { beforeEach, describe, expect, it } from 'vitest'
import { allowInstalling, callbackToken, type Installed, installed, installedAgain, member } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()
beforeEach(async () => {
  platform.clock.advance(60_000)
  await platform.drain()
  agent.answer({ kind: 'answer', status: 202 })
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
})

/** Creates an installed app that can be installed by its slug. */
const listed = async (workspaceId?: string): Promise<Installed> => {
  const one = await installed(platform.deps, { endpoint: agent.url, ...(workspaceId && { workspaceId }) })
  await allowInstalling(platform.deps, one)
  return one
}

/** A workspace with an app, its owner and an admin, who is less than an owner but may uninstall and install. */
const scene = async () => {
  const app = await listed()
  const admin = await member(platform.deps, app.workspaceId, 'admin')
  const as = (person: { token: string }, method: string, path: string, body?: object) => {
    platform.clock.advance(1_000)
    return platform.call(method, `/console${path}`, { token: person.token, body })
  }
  const uninstall = async (one: Installed) => {
    expect((await as(admin, 'DELETE', `/installations/${one.installation.id}`)).status).toBe(204)
    await platform.drain()
  }
  /** Installs the app again. @returns the app with a token of its new installation */
  const install = async (one: Installed): Promise<Installed> => {
    const { slug, requested_scopes: scopes } = one.app
    const { id } = await succeeded(as(admin, 'POST', '/installations', { slug, scopes }))
    expect(id).not.toBe(one.installation.id)
    return installedAgain(platform.deps, one, id)
  }
  const reinstall = async (one: Installed) => {
    await uninstall(one)
    return install(one)
  }
  return { app, owner: app.person, admin, as, uninstall, install, reinstall }
}

const start = ({ token }: Installed) => platform.call('POST', '/api/v1/runs', { token, body: {} })

/** Makes a call as the agent that somebody must approve. */
const ask = async (from: Installed) => {
  const { body: run } = await start(from)
  await platform.drain()
  const { body } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: await callbackToken(platform.deps, from, run.id),
    body: { arguments: { url: page.url, method: 'POST' } },
  })
  return `/runs/${run.id}/steps/${body.step_id}`
}

const invoke = ({ token }: Installed, tool: string, args: object = {}) =>
  platform.call('POST', `/api/v1/tools/${tool}/invoke`, { token, body: { arguments: args } })

describe('an admin who uninstalls an app and installs it again', () => {
  it('doesn’t give it back a tool that an owner denied', async () => {
    const { app, owner, as, reinstall } = await scene()
    const policy = { denied_tools: ['workspace_info'] }
    await succeeded(as(owner, 'PUT', `/installations/${app.installation.id}/policy`, policy))
    const once = await reinstall(app)
    expectRefusal(await invoke(once, 'workspace_info'), 'the denied tool', 'tool_denied')
    const twice = await reinstall(once)
    expectRefusal(await invoke(twice, 'workspace_info'), 'the denied tool', 'tool_denied')
    expect((await invoke(twice, 'list_runs')).status).toBe(200)
    await succeeded(as(owner, 'PUT', `/installations/${twice.installation.id}/policy`, { denied_tools: [] }))
    expect((await invoke(await reinstall(twice), 'workspace_info')).status).toBe(200)
  })

  it('doesn’t open it to agents that an owner didn’t allow, and those that were allowed still are', async () => {
    const { app, owner, as, reinstall } = await scene()
    const [friend, stranger] = await Promise.all([listed(app.workspaceId), listed(app.workspaceId)])
    const policy = { allowed_callers: [friend.installation.id] }
    const now = await succeeded(as(owner, 'PUT', `/installations/${app.installation.id}/policy`, policy))
    expect(now.allowed_callers).toEqual([friend.app.slug])
    await reinstall(app)
    const task = { agent: app.app.slug, title: 'Count the stock', start_now: false }
    expectRefusal(await invoke(stranger, 'delegate_task', task), 'a stranger’s call', 'tool_denied')
    expect((await invoke(friend, 'delegate_task', task)).status).toBe(200)
    expect((await invoke(await reinstall(friend), 'delegate_task', task)).status).toBe(200)
    expectRefusal(await invoke(await reinstall(stranger), 'delegate_task', task), 'a stranger’s call', 'tool_denied')
  })

  it('doesn’t get its calls past the rule that an owner made for it', async () => {
    const { app, owner, admin, as, uninstall, install } = await scene()
    const bo = await member(platform.deps, app.workspaceId, 'member')
    const name = app.app.name
    const rules = [{ name: 'Owners decide', app_ids: [app.app.id], approvers: { role: 'owner' } }]
    const set = await succeeded(as(owner, 'PUT', '/settings/approvals', { rules }))
    expect(set.apps).toEqual([{ id: app.app.id, name, is_installed: true }])
    await uninstall(app)
    const between = await succeeded(as(owner, 'GET', '/settings/approvals'))
    expect(between.apps).toEqual([{ id: app.app.id, name, is_installed: false }])
    // Rules are kept as they are, also by an owner who changes another one meanwhile.
    const more = [...between.rules, { name: 'Others', approvers: { role: 'member' } }]
    await succeeded(as(owner, 'PUT', '/settings/approvals', { rules: more }))
    const step = await ask(await install(app))
    const decide = (who: { token: string }) => as(who, 'POST', `${step}/decision`, { decision: 'approve' })
    for (const who of [bo, admin]) expectRefusal(await decide(who), 'the approval', 'forbidden')
    expect(page.requests).toHaveLength(0)
    expect((await decide(owner)).status).toBe(200)
  })

  it('doesn’t reset the budget of an app, nor what it has used', async () => {
    const { app, owner, as, uninstall, install } = await scene()
    const budget = { subject: { type: 'agent', id: app.app.id }, period: 'month', limits: { runs: 2 } }
    const each = { subject: { type: 'agent' }, period: 'day', limits: { runs: 2 } }
    for (const one of [budget, each]) expect((await as(owner, 'POST', '/budgets', one)).status).toBe(201)
    expect((await start(app)).status).toBe(201)
    const marks = async () =>
      (await succeeded(as(owner, 'GET', '/budgets'))).items.map(
        ({ subject }: { subject: { is_installed: boolean | null } }) => subject.is_installed,
      )
    expect(await marks()).toEqual([true, null])
    await uninstall(app)
    expect(await marks()).toEqual([false, null])
    const again = await install(app)
    expect((await start(again)).status).toBe(201)
    expectRefusal(await start(again), 'the third run', 'budget_exceeded')
    const { items } = await succeeded(as(owner, 'GET', '/budgets'))
    for (const { use } of items) expect(use).toMatchObject([{ id: app.app.id, name: app.app.name, runs: 2 }])
  })
})
