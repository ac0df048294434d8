import { beforeEach, describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { AppTotalEntity, STATS_SHARDS } from '#shared/insight/statistics/entity.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ReviewTotalsEntity } from '#shared/marketplace/reviews/entity.ts'
import { killAfter } from '#testkit/faults.ts'
import { type Installed, installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { entityOf, runRemovalAfterGrace, runRound, scanTable } from './workspace-removal-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const DAY = 86_400_000

/** Creates a workspace with most kinds of data, and starts its deletion. */
const leaving = async () => {
  const app = await installed(platform.deps)
  const { token } = app.person
  const ask = (method: string, path: string, body?: unknown, by = token) =>
    platform.call(method, path, { token: by, body })
  await ask('POST', '/api/v1/runs', { input: { text: 'x'.repeat(20_000) } }, app.token)
  await ask('POST', '/api/v1/files', { name: 'a.txt', content_type: 'text/plain', content: 'hello' }, app.token)
  const { body: task } = await ask('POST', '/console/tasks', { title: 'Count', installation_id: app.installation.id })
  const output = { rows: 'x'.repeat(20_000) }
  expect((await ask('POST', `/api/v1/tasks/${task.id}/report`, { text: 'All.', output }, app.token)).status).toBe(200)
  await ask('PUT', `/console/apps/${app.app.id}/review`, { rating: 4 })
  const { body: request } = await ask('POST', '/console/agent-requests', { title: 'Counts' })
  await ask('POST', `/console/agent-requests/${request.id}/vote`)
  await ask('POST', '/console/abuse-reports', { app_id: app.app.id, text: 'Bad.' })
  await ask('POST', '/console/invitations', {})
  await platform.drain()
  expect((await ask('DELETE', '/console/workspace')).status).toBe(204)
  await platform.drain()
  return { ...app, ask, request, task }
}

/** Lists the entities left of a workspace: items that contain its id or are in its installation's partitions. */
const leftOf = async ({ workspaceId, installation }: Installed): Promise<string[]> => {
  const items = await scanTable(platform)
  const of = items.filter(
    (item) => JSON.stringify(item).includes(workspaceId) || String(item.pk).includes(installation.id),
  )
  return [...new Set(of.map(entityOf))].sort()
}

/**
 * The audit, the person, whose first workspace it was, unseen events and their marks, which expire within 32 days, and
 * sign-ins.
 */
const MAY_STAY = new Set([
  'audit',
  'audit-day',
  'audit-unanchored',
  'user',
  'session',
  'outbox',
  'bucket',
  'kept-answer',
  'app-log',
])

describe('the grace period of a deleted workspace', () => {
  it('can’t be ended by a concurrent restore once the removal has begun', async () => {
    const { ask, workspaceId } = await leaving()
    const { token: owner } = await member(platform.deps, workspaceId, 'owner')
    const set = { removal_began_at: platform.clock.now() }
    await platform.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set })])
    expect((await ask('POST', '/console/workspace/restore', undefined, owner)).body.error.code).toBe('conflict')
  })

  it('stops agents at once but not people, and a restore makes the agents work again', async () => {
    const { ask, token, workspaceId } = await leaving()
    const me = await ask('GET', '/console/me')
    expect(me.body.workspace).toMatchObject({ status: 'deleting', deletes_at: expect.stringMatching(/\+00:00$/) })
    expect((await platform.call('GET', '/api/v1/me', { token })).body.error.code).toBe('installation_suspended')
    expect((await ask('POST', '/console/tasks', { title: 'Still' })).status).toBe(201)
    platform.clock.advance(13 * DAY)
    await runRound(platform)
    const { token: owner } = await member(platform.deps, workspaceId, 'owner')
    const restored = await ask('POST', '/console/workspace/restore', undefined, owner)
    expect(restored.body).toMatchObject({ status: 'active', deletes_at: null })
    expect((await ask('POST', '/console/workspace/restore', undefined, owner)).body.error.code).toBe('conflict')
    await runRemovalAfterGrace(platform)
    expect((await platform.deps.table.get(WorkspaceEntity, { id: workspaceId }))?.status).toBe('active')
  })

  it('dispatches nothing that was queued before', async () => {
    const app = await installed(platform.deps)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.call('DELETE', '/console/workspace', { token: app.person.token })
    await platform.drain()
    const { body } = await platform.call('GET', `/console/runs/${run.id}`, { token: app.person.token })
    expect([body.status, body.error_code]).toEqual(['failed', 'installation_suspended'])
  })

  it('is started by the owner, and never for a sandbox', async () => {
    const app = await installed(platform.deps)
    const admin = await member(platform.deps, app.workspaceId, 'admin')
    for (const [method, path] of [
      ['DELETE', '/console/workspace'],
      ['POST', '/console/workspace/restore'],
    ] as const) {
      expect((await platform.call(method, path, { token: admin.token })).body.error.code).toBe('admin_required')
    }
    await platform.deps.table.transact([WorkspaceEntity.update({ id: app.workspaceId }, { set: { is_sandbox: true } })])
    const refused = await platform.call('DELETE', '/console/workspace', { token: app.person.token })
    expect(refused.body.error.code).toBe('conflict')
  })
})

describe('a workspace after its grace period', () => {
  it('can’t be opened or restored, even before anything is removed', async () => {
    const { person } = await leaving()
    platform.clock.advance(14 * DAY)
    const late = await member(platform.deps, person.session.workspace_id, 'owner')
    expect((await platform.call('GET', '/console/me', { token: late.token })).status).toBe(401)
    expect((await platform.call('POST', '/console/workspace/restore', { token: late.token })).status).toBe(401)
  })

  it('is removed except for its audit, and aggregates that include it stay exact', async () => {
    const deleted = await leaving()
    const stays = await installed(platform.deps, {})
    await platform.call('POST', '/api/v1/runs', { token: stays.token, body: {} })
    const before = await leftOf(stays)
    expect([...platform.objects.keys()].some((key) => key.includes(deleted.task.id))).toBe(true)
    await runRemovalAfterGrace(platform)
    expect((await leftOf(deleted)).filter((name) => !MAY_STAY.has(name))).toEqual([])
    expect(await leftOf(stays)).toEqual(expect.arrayContaining(before.filter((name) => name !== 'session')))
    const of = (key: string) =>
      !key.startsWith('audit/') && (key.includes(deleted.workspaceId) || key.includes(deleted.task.id))
    expect([...platform.objects.keys()].filter(of)).toEqual([])
    expect(await platform.deps.table.get(ReviewTotalsEntity, { app_id: deleted.app.id })).toMatchObject({ n4: 0 })
    const board = await platform.call('GET', '/admin/requests', { headers: { 'x-admin-key': 'local-admin-key' } })
    expect(board.body.items.map(({ id }: { id: string }) => id)).not.toContain(deleted.request.id)
    expect(board.body.total).toBe(board.body.items.length)
    const audit = (await scanTable(platform)).filter((item) => item.pk === `AUDIT#${deleted.workspaceId}`)
    expect(audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['workspace.deletion_requested', 'installation.removed', 'workspace.removed']),
    )
  })

  it('loses its hidden reviews, including the record of one deleted while hidden', async () => {
    const deleted = await leaving()
    const admin = { headers: { 'x-admin-key': 'local-admin-key' }, body: { hidden: true, reason: 'Insults.' } }
    const apps: Installed[] = []
    for (const removed of [true, false]) {
      const { app, ...more } = await installed(platform.deps, { workspaceId: deleted.workspaceId })
      const { body } = await deleted.ask('PUT', `/console/apps/${app.id}/review`, { rating: 1 })
      expect((await platform.call('POST', `/admin/reviews/${body.id}/hide`, admin)).status).toBe(200)
      if (removed) expect((await deleted.ask('DELETE', `/console/apps/${app.id}/review`)).status).toBe(204)
      apps.push({ app, ...more })
    }
    expect(await leftOf(deleted)).toContain('workspace-review')
    await runRemovalAfterGrace(platform)
    expect((await leftOf(deleted)).filter((name) => !MAY_STAY.has(name))).toEqual([])
    for (const { app } of apps) {
      expect(await platform.deps.table.get(ReviewTotalsEntity, { app_id: app.id })).toMatchObject({ n1: 0, h1: 0 })
    }
  })

  it('leaves nothing of an upload that started in its last minute and took long', async () => {
    const { ask, workspaceId } = await leaving()
    platform.clock.advance(14 * DAY - 60_000)
    const { token } = await member(platform.deps, workspaceId, 'owner')
    const { body: file } = await ask(
      'POST',
      '/console/files',
      { name: 'a', content_type: 'text/plain', size: 5 },
      token,
    )
    const object = new URL(file.upload.url).pathname.slice(1)
    for (let minutes = 0; minutes < 60; minutes += 15) {
      await runRound(platform)
      await platform.drain()
      platform.clock.advance(15 * 60_000 - 15_000)
    }
    platform.objects.set(object, Buffer.from('hello'))
    for (let rounds = 0; rounds < 2; rounds++) {
      platform.clock.advance(20 * 60_000)
      await runRound(platform)
    }
    expect([...platform.objects.keys()].filter((key) => key.includes(workspaceId))).toEqual([])
    expect(await platform.deps.table.get(WorkspaceEntity, { id: workspaceId })).toBeUndefined()
  })

  it('has its agents uninstalled and counted before they are removed, even when the first round runs days late', async () => {
    const deleted = await leaving()
    platform.clock.advance(17 * DAY)
    platform.outbox.length = 0
    await runRound(platform)
    const told = platform.outbox.filter(({ workspace_id }) => workspace_id === deleted.workspaceId)
    expect(told.map(({ type }) => type)).toEqual(['installation.removed'])
    await platform.drain()
    for (let hours = 0; hours < 2; hours++) {
      expect(await platform.deps.table.get(WorkspaceEntity, { id: deleted.workspaceId })).toBeDefined()
      platform.clock.advance(3_600_000)
      await runRound(platform)
    }
    expect((await leftOf(deleted)).filter((name) => !MAY_STAY.has(name))).toEqual([])
    const shards = Array.from({ length: STATS_SHARDS }, (_, shard) =>
      platform.deps.table.get(AppTotalEntity, { app_id: deleted.app.id, block: 'live', shard }),
    )
    const removed = (await Promise.all(shards)).reduce((sum, total) => sum + (total?.removed ?? 0), 0)
    expect(removed).toBe(1)
  })

  it('is removed over several rounds, however little each may do', async () => {
    const deleted = await leaving()
    await runRemovalAfterGrace(platform, { records: 25 }, 30)
    expect((await leftOf(deleted)).filter((name) => !MAY_STAY.has(name))).toEqual([])
  })

  it('is removed by the next round when the worker crashed after any effect', async () => {
    for (let n = 1; ; n = n < 6 ? n + 1 : Math.ceil(n * 1.4)) {
      const deleted = await leaving()
      platform.clock.advance(14 * DAY)
      await runRound(platform)
      await platform.drain()
      platform.clock.advance(LIMITS.uploadEnd + 20 * 60_000)
      const death = killAfter(platform, n)
      await runRound(platform).catch(() => undefined)
      const died = death.restore()
      for (let more = 0; more < 2; more++) await runRound(platform)
      expect(
        (await leftOf(deleted)).filter((name) => !MAY_STAY.has(name)),
        `died after ${n}`,
      ).toEqual([])
      expect(await platform.deps.table.get(ReviewTotalsEntity, { app_id: deleted.app.id })).toMatchObject({ n4: 0 })
      if (!died) return
    }
  })
})
