import { beforeEach, describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/entities/people.ts'
import { ReviewTotalsEntity } from '#shared/entities/reviews.ts'
import { AppTotalEntity, STATS_SHARDS } from '#shared/entities/statistics.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { killAfter } from '#test/support/faults.ts'
import { type Installed, installed, member } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { afterGrace, entityOf, everything, round } from './support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const DAY = 86_400_000

/** A workspace with something of most kinds, the owner's deletion of it under way. */
const leaving = async () => {
  const app = await installed(platform.deps)
  const { token } = app.person
  const ask = (method: string, path: string, body?: unknown, by = token) =>
    platform.call(method, path, { token: by, ...(body !== undefined && { body }) })
  await ask('POST', '/api/v1/runs', { input: { text: 'x'.repeat(20_000) } }, app.token)
  await ask('POST', '/api/v1/files', { name: 'a.txt', content_type: 'text/plain', content: 'hello' }, app.token)
  const { body: task } = await ask('POST', '/console/tasks', { title: 'Count', installation_id: app.installation.id })
  const output = { rows: 'x'.repeat(20_000) }
  expect((await ask('POST', `/api/v1/tasks/${task.id}/report`, { text: 'All.', output }, app.token)).status).toBe(200)
  await ask('PUT', `/console/apps/${app.app.id}/review`, { rating: 4 })
  const { body: wish } = await ask('POST', '/console/agent-requests', { title: 'Counts' })
  await ask('POST', `/console/agent-requests/${wish.id}/vote`)
  await ask('POST', '/console/abuse-reports', { app_id: app.app.id, text: 'Bad.' })
  await ask('POST', '/console/invitations', {})
  await platform.drain()
  expect((await ask('DELETE', '/console/workspace')).status).toBe(204)
  await platform.drain()
  return { ...app, ask, wish, task }
}

/** What is left of a workspace, by entity: whatever holds its id, or is in its installation's partitions. */
const leftOf = async ({ workspaceId, installation }: Installed): Promise<string[]> => {
  const items = await everything(platform)
  const of = items.filter(
    (item) => JSON.stringify(item).includes(workspaceId) || String(item.pk).includes(installation.id),
  )
  return [...new Set(of.map(entityOf))].sort()
}

/** The audit; the person, whose first workspace it was; events nobody saw and their marks, gone within 32 days; signing in. */
const MAY_STAY = new Set(['audit', 'user', 'session', 'outbox', 'bucket', 'kept-answer', 'app-log'])

describe('the grace of a workspace that is to be deleted', () => {
  it('is not taken back by a request that was let in at the last moment, when the removal has begun', async () => {
    const { ask, workspaceId } = await leaving()
    const { token: owner } = await member(platform.deps, workspaceId, 'owner')
    const set = { removal_began_at: platform.clock.now() }
    await platform.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set })])
    expect((await ask('POST', '/console/workspace/restore', undefined, owner)).body.error.code).toBe('conflict')
  })

  it('stops its agents at once and lets people go on; taken back, the agents work again', async () => {
    const { ask, token, workspaceId } = await leaving()
    const me = await ask('GET', '/console/me')
    expect(me.body.workspace).toMatchObject({ status: 'deleting', deletes_at: expect.stringMatching(/\+00:00$/) })
    expect((await platform.call('GET', '/api/v1/me', { token })).body.error.code).toBe('installation_suspended')
    expect((await ask('POST', '/console/tasks', { title: 'Still' })).status).toBe(201)
    platform.clock.advance(13 * DAY)
    await round(platform)
    const { token: owner } = await member(platform.deps, workspaceId, 'owner')
    const restored = await ask('POST', '/console/workspace/restore', undefined, owner)
    expect(restored.body).toMatchObject({ status: 'active', deletes_at: null })
    expect((await ask('POST', '/console/workspace/restore', undefined, owner)).body.error.code).toBe('conflict')
    await afterGrace(platform)
    expect((await platform.deps.table.get(WorkspaceEntity, { id: workspaceId }))?.status).toBe('active')
  })

  it('hands nothing on that was queued before', async () => {
    const app = await installed(platform.deps)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.call('DELETE', '/console/workspace', { token: app.person.token })
    await platform.drain()
    const { body } = await platform.call('GET', `/console/runs/${run.id}`, { token: app.person.token })
    expect([body.status, body.error_code]).toEqual(['failed', 'installation_suspended'])
  })

  it('is the owner’s decision, and no sandbox’s', async () => {
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

describe('after the grace', () => {
  it('nobody gets in, though nothing is removed yet, and it cannot be taken back', async () => {
    const { person } = await leaving()
    platform.clock.advance(14 * DAY)
    const late = await member(platform.deps, person.session.workspace_id, 'owner')
    expect((await platform.call('GET', '/console/me', { token: late.token })).status).toBe(401)
    expect((await platform.call('POST', '/console/workspace/restore', { token: late.token })).status).toBe(401)
  })

  it('everything of it is gone but its audit, and what it counted in is exact', async () => {
    const gone = await leaving()
    const stays = await installed(platform.deps, {})
    await platform.call('POST', '/api/v1/runs', { token: stays.token, body: {} })
    const before = await leftOf(stays)
    expect([...platform.objects.keys()].some((key) => key.includes(gone.task.id))).toBe(true)
    await afterGrace(platform)
    expect((await leftOf(gone)).filter((name) => !MAY_STAY.has(name))).toEqual([])
    expect(await leftOf(stays)).toEqual(expect.arrayContaining(before.filter((name) => name !== 'session')))
    const of = (key: string) => key.includes(gone.workspaceId) || key.includes(gone.task.id)
    expect([...platform.objects.keys()].filter(of)).toEqual([])
    expect(await platform.deps.table.get(ReviewTotalsEntity, { app_id: gone.app.id })).toMatchObject({ n4: 0 })
    const board = await platform.call('GET', '/admin/requests', { headers: { 'x-admin-key': 'local-admin-key' } })
    expect(board.body.items.map(({ id }: { id: string }) => id)).not.toContain(gone.wish.id)
    expect(board.body.total).toBe(board.body.items.length)
    const audit = (await everything(platform)).filter((item) => item.pk === `AUDIT#${gone.workspaceId}`)
    expect(audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['workspace.deletion_requested', 'installation.removed', 'workspace.removed']),
    )
  })

  it('its hidden reviews are gone, and that it removed one while it was hidden', async () => {
    const gone = await leaving()
    const admin = { headers: { 'x-admin-key': 'local-admin-key' }, body: { hidden: true, reason: 'Insults.' } }
    const apps: Installed[] = []
    for (const removed of [true, false]) {
      const { app, ...more } = await installed(platform.deps, { workspaceId: gone.workspaceId })
      const { body } = await gone.ask('PUT', `/console/apps/${app.id}/review`, { rating: 1 })
      expect((await platform.call('POST', `/admin/reviews/${body.id}/hide`, admin)).status).toBe(200)
      if (removed) expect((await gone.ask('DELETE', `/console/apps/${app.id}/review`)).status).toBe(204)
      apps.push({ app, ...more })
    }
    expect(await leftOf(gone)).toContain('workspace-review')
    await afterGrace(platform)
    expect((await leftOf(gone)).filter((name) => !MAY_STAY.has(name))).toEqual([])
    for (const { app } of apps) {
      expect(await platform.deps.table.get(ReviewTotalsEntity, { app_id: app.id })).toMatchObject({ n1: 0, h1: 0 })
    }
  })

  it('nothing stays of an upload that began in its last minute and took its time', async () => {
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
      await round(platform)
      await platform.drain()
      platform.clock.advance(15 * 60_000 - 15_000)
    }
    platform.objects.set(object, Buffer.from('hello'))
    for (let rounds = 0; rounds < 2; rounds++) {
      platform.clock.advance(20 * 60_000)
      await round(platform)
    }
    expect([...platform.objects.keys()].filter((key) => key.includes(workspaceId))).toEqual([])
    expect(await platform.deps.table.get(WorkspaceEntity, { id: workspaceId })).toBeUndefined()
  })

  it('its agents are uninstalled and counted as that before they go, also where the first round comes days late', async () => {
    const gone = await leaving()
    platform.clock.advance(17 * DAY)
    platform.outbox.length = 0
    await round(platform)
    const told = platform.outbox.filter(({ workspace_id }) => workspace_id === gone.workspaceId)
    expect(told.map(({ type }) => type)).toEqual(['installation.removed'])
    await platform.drain()
    for (let hours = 0; hours < 2; hours++) {
      expect(await platform.deps.table.get(WorkspaceEntity, { id: gone.workspaceId })).toBeDefined()
      platform.clock.advance(3_600_000)
      await round(platform)
    }
    expect((await leftOf(gone)).filter((name) => !MAY_STAY.has(name))).toEqual([])
    const shards = Array.from({ length: STATS_SHARDS }, (_, shard) =>
      platform.deps.table.get(AppTotalEntity, { app_id: gone.app.id, block: 'live', shard }),
    )
    const removed = (await Promise.all(shards)).reduce((sum, total) => sum + (total?.removed ?? 0), 0)
    expect(removed).toBe(1)
  })

  it('goes on in the next round, however little each may do', async () => {
    const gone = await leaving()
    await afterGrace(platform, { records: 25 }, 30)
    expect((await leftOf(gone)).filter((name) => !MAY_STAY.has(name))).toEqual([])
  })

  it('is finished by the next round, after whichever effect the worker died', async () => {
    for (let n = 1; ; n = n < 6 ? n + 1 : Math.ceil(n * 1.4)) {
      const gone = await leaving()
      platform.clock.advance(14 * DAY)
      await round(platform)
      await platform.drain()
      platform.clock.advance(LIMITS.uploadEnd + 20 * 60_000)
      const death = killAfter(platform, n)
      await round(platform).catch(() => undefined)
      const died = death.restore()
      for (let more = 0; more < 2; more++) await round(platform)
      expect(
        (await leftOf(gone)).filter((name) => !MAY_STAY.has(name)),
        `died after ${n}`,
      ).toEqual([])
      expect(await platform.deps.table.get(ReviewTotalsEntity, { app_id: gone.app.id })).toMatchObject({ n4: 0 })
      if (!died) return
    }
  })
})
