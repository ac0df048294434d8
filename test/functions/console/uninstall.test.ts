import { beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity, RemovalEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { SubscriptionEntity } from '#shared/delivery/webhooks/entity.ts'
import { ClaimEntity } from '#shared/foundation/claims/entity.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { endRemovedInstallation } from '#shared/lifecycle/removal/end-removed.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { ApprovalEntity, RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, conversation, type Installed, installed } from '#testkit/fixtures.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(async () => {
  await platform.drain()
  platform.clock.advance(60_000)
})

const uninstall = ({ installation, person }: Installed, token = person.token) =>
  platform.call('DELETE', `/console/installations/${installation.id}`, { token })
const runOf = ({ installation }: Installed, id: string) =>
  platform.deps.table.get(RunEntity, { installation_id: installation.id, id })

/** Starts an agent with a running run that waits for an approval. */
const waiting = async () => {
  const agent = await startReceiver()
  agent.answer({ kind: 'answer', status: 202 })
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { q: 1 } } })
  await platform.drain()
  const callback = await callbackToken(platform.deps, app, run.id)
  const { body } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: callback,
    body: { arguments: { url: `${agent.url}/page` } },
  })
  return { agent, app, run, callback, step: body.step_id as string }
}

describe('DELETE /console/installations/{id}', () => {
  it('invalidates access, callback and surface tokens at the next request, before any worker runs', async () => {
    const { app, callback, run } = await waiting()
    const surface = await platform.call('POST', `/console/installations/${app.installation.id}/surface-token`, {
      token: app.person.token,
    })
    const ask = (token: string) => platform.call('GET', '/api/v1/me', { token })
    for (const token of [app.token, callback, surface.body.token]) expect((await ask(token)).status).toBe(200)
    expect((await uninstall(app)).status).toBe(204)
    for (const token of [app.token, callback, surface.body.token]) expect((await ask(token)).status).toBe(401)
    const complete = { status: 'succeeded', output: {} }
    const late = await platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token: callback, body: complete })
    expect(late.status).toBe(401)
  })

  it('dispatches nothing to the agent any more, and ends a queued run without a call', async () => {
    const agent = await startReceiver()
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: {} } })
    expect((await uninstall(app)).status).toBe(204)
    await platform.drain()
    expect(agent.requests).toHaveLength(0)
    const ended = await runOf(app, run.id)
    expect(['cancelled', 'failed']).toContain(ended?.status)
    if (ended?.status === 'failed') expect(ended.error_code).toBe('installation_revoked')
    await agent.close()
  })

  it('cancels active runs, emits events, and voids pending approvals, which can’t be approved afterwards', async () => {
    const { agent, app, run, step } = await waiting()
    const fetched = agent.requests.length
    await uninstall(app)
    const decision = await platform.call('POST', `/console/runs/${run.id}/steps/${step}/decision`, {
      token: app.person.token,
      body: { decision: 'approve' },
    })
    expect([decision.status, decision.body.error.code]).toEqual([409, 'run_already_finished'])
    platform.outbox.length = 0
    await endRemovedInstallation(createWorkerWork(platform.deps), app.installation.id)
    expect(platform.outbox.map(({ type }) => type)).toContain('run.cancelled')
    await platform.drain()
    expect(await runOf(app, run.id)).toMatchObject({ status: 'cancelled', finished_at: expect.any(Number) })
    expect(await platform.deps.table.get(ApprovalEntity, { run_id: run.id, step_id: step })).toMatchObject({
      status: 'voided',
    })
    expect(agent.requests.length).toBe(fetched)
    await agent.close()
  })

  it('doesn’t execute an approved call that is still pending', async () => {
    const { agent, app, run, step } = await waiting()
    const decide = { token: app.person.token, body: { decision: 'approve' } }
    expect((await platform.call('POST', `/console/runs/${run.id}/steps/${step}/decision`, decide)).status).toBe(200)
    const before = agent.requests.length
    await uninstall(app)
    await platform.drain()
    expect(agent.requests.length).toBe(before)
    expect((await runOf(app, run.id))?.status).toBe('cancelled')
    await agent.close()
  })

  it('announces it in one last webhook, drops pending deliveries, and disables the subscriptions', async () => {
    const hooks = await startReceiver()
    const app = await installed(platform.deps)
    const subscription = { token: app.token, body: { url: `${hooks.url}/in`, events: ['*'] } }
    const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', subscription)
    const emit = { token: app.token, body: { arguments: { type: 'custom.order.paid', data: {} } } }
    await platform.call('POST', '/api/v1/tools/emit_event/invoke', emit)
    await uninstall(app)
    await platform.drain()
    await platform.sweep()
    expect(hooks.requests.map(({ headers }) => headers['x-svc-event'])).toEqual(['installation.removed'])
    const at = { installation_id: app.installation.id, id: webhook.id }
    expect(await platform.deps.table.get(SubscriptionEntity, at)).toMatchObject({
      status: 'disabled',
      last_error: 'The app was uninstalled.',
    })
    await hooks.close()
  })

  it('revokes and audits each grant, and empties the list of grants at once', async () => {
    const app = await installed(platform.deps)
    const grants = () => platform.call('GET', '/console/grants', { token: app.person.token })
    await uninstall(app)
    expect((await grants()).body.items).toEqual([])
    await platform.drain()
    const at = { installation_id: app.installation.id, id: app.grant.id }
    expect(await platform.deps.table.get(GrantEntity, at)).toMatchObject({
      status: 'revoked',
      revoked_reason: 'uninstalled',
    })
    const audit = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 10 })
    expect(audit.items.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['installation.removed', 'grant.revoked']),
    )
  })

  it('notifies the workspace’s other agents with the scope for it, and none elsewhere', async () => {
    const app = await installed(platform.deps)
    const reader = await installed(platform.deps, { workspaceId: app.workspaceId, scopes: ['workspace:read'] })
    const blind = await installed(platform.deps, { workspaceId: app.workspaceId, scopes: ['runs:read'] })
    const foreign = await installed(platform.deps)
    await uninstall(app)
    await platform.drain()
    const seen = async (token: string) =>
      (await platform.call('GET', '/api/v1/events', { token })).body.items.map(
        ({ type, data }: { type: string; data: { installation_id: string; status: string } }) => [
          type,
          data.installation_id,
          data.status,
        ],
      )
    expect(await seen(reader.token)).toEqual([['installation.removed', app.installation.id, 'revoked']])
    expect(await seen(blind.token)).toEqual([])
    expect(await seen(foreign.token)).toEqual([])
  })

  it('keeps runs, tasks, conversations and the audit readable, and a task its agent, which can’t work on it', async () => {
    const { agent, app, run } = await waiting()
    const { token } = app.person
    const task = { title: 'Count', installation_id: app.installation.id }
    const made = await platform.call('POST', '/console/tasks', { token, body: task })
    const talk = await conversation(platform.deps, app)
    await uninstall(app)
    await platform.drain()
    expect((await platform.call('GET', `/console/runs/${run.id}`, { token })).body.status).toBe('cancelled')
    const kept = await platform.call('GET', `/console/tasks/${made.body.id}`, { token })
    expect(kept.body.assignee.installation_id).toBe(app.installation.id)
    expect(
      await platform.deps.table.query(RunEntity, { installation_id: app.installation.id }, { limit: 5 }),
    ).toMatchObject({
      items: [{ id: run.id }],
    })
    expect(talk.id).toBeTruthy()
    const again = await platform.call('POST', `/console/tasks/${made.body.id}/run`, { token, body: {} })
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found'])
    await agent.close()
  })

  it('deletes the settings, and returns the main conversation to the platform’s orchestrator', async () => {
    const app = await installed(platform.deps)
    const at = { workspace_id: app.workspaceId, id: app.installation.id }
    await platform.deps.table.transact([
      InstallationEntity.update(at, { set: { settings: 'sealed', settings_set: ['api_key'] } }),
      WorkspaceEntity.update({ id: app.workspaceId }, { set: { primary_installation_id: app.installation.id } }),
    ])
    await uninstall(app)
    const kept = await platform.deps.table.get(InstallationEntity, at)
    expect(kept).toMatchObject({ status: 'revoked', revoked_at: platform.clock.now() })
    expect(kept).not.toHaveProperty('settings')
    expect(await platform.deps.table.get(WorkspaceEntity, { id: app.workspaceId })).not.toHaveProperty(
      'primary_installation_id',
    )
  })

  it('keeps another agent that answers the main conversation', async () => {
    const app = await installed(platform.deps)
    const other = await installed(platform.deps, { workspaceId: app.workspaceId })
    const primary_installation_id = other.installation.id
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: app.workspaceId }, { set: { primary_installation_id } }),
    ])
    await uninstall(app)
    await platform.drain()
    expect(await platform.deps.table.get(WorkspaceEntity, { id: app.workspaceId })).toMatchObject({
      primary_installation_id,
    })
  })

  it('is possible for a suspended installation', async () => {
    const app = await installed(platform.deps)
    const at = { workspace_id: app.workspaceId, id: app.installation.id }
    await platform.deps.table.transact([InstallationEntity.update(at, { set: { status: 'suspended' } })])
    expect((await uninstall(app)).status).toBe(204)
  })

  it('removes it once under ten concurrent requests: one event, one count, and not_found for the others', async () => {
    const app = await installed(platform.deps)
    const answers = await Promise.all(Array.from({ length: 10 }, () => uninstall(app)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)])
    expect(platform.outbox.filter(({ type }) => type === 'installation.removed')).toHaveLength(1)
    expect((await uninstall(app)).body.error.code).toBe('not_found')
  })

  it('lets a reinstall create a new installation, on which the old tokens don’t work', async () => {
    const app = await installed(platform.deps)
    await platform.deps.table.transact([
      ClaimEntity.create({ kind: 'slug', value: app.app.slug, owner_id: app.app.id }),
      AppEntity.update(app.app, { set: { status: 'approved' } }),
    ])
    await uninstall(app)
    const again = await platform.call('POST', '/console/installations', {
      token: app.person.token,
      body: { slug: app.app.slug },
    })
    expect(again.status).toBe(201)
    expect(again.body.id).not.toBe(app.installation.id)
    await platform.drain()
    expect((await platform.call('GET', '/api/v1/me', { token: app.token })).status).toBe(401)
    const list = await platform.call('GET', '/console/installations', { token: app.person.token })
    expect(list.body.items.map(({ id }: { id: string }) => id)).toEqual([again.body.id])
  })

  it('is completed by the sweeper when the worker is never woken, after which no work is left', async () => {
    const { agent, app, run } = await waiting()
    await uninstall(app)
    platform.outbox.length = 0
    platform.clock.advance(60_000)
    await platform.sweep()
    expect((await runOf(app, run.id))?.status).toBe('cancelled')
    const removal = await platform.deps.table.get(RemovalEntity, { installation_id: app.installation.id })
    expect(removal).toMatchObject({ done_at: platform.clock.now() })
    expect(removal).not.toHaveProperty('due_at')
    await agent.close()
  })

  it('ends data in its second round that a request in progress still wrote', async () => {
    const app = await installed(platform.deps)
    await uninstall(app)
    await platform.drain()
    const late = { ...app.grant, id: newId('grant', platform.clock.now()) }
    await platform.deps.table.transact([GrantEntity.create(late)])
    platform.clock.advance(60_000)
    await platform.sweep()
    const at = { installation_id: app.installation.id, id: late.id }
    expect(await platform.deps.table.get(GrantEntity, at)).toMatchObject({ status: 'revoked' })
  })

  it('changes nothing more when it is completed concurrently, or again', async () => {
    const { agent, app } = await waiting()
    await uninstall(app)
    platform.outbox.length = 0
    const work = () => createWorkerWork(platform.deps)
    await Promise.all([
      endRemovedInstallation(work(), app.installation.id),
      endRemovedInstallation(work(), app.installation.id),
    ])
    await endRemovedInstallation(work(), app.installation.id)
    expect(platform.outbox.map(({ type }) => type)).toContain('run.cancelled')
    const audit = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 20 })
    expect(audit.items.filter(({ action }) => action === 'grant.revoked')).toHaveLength(1)
    await agent.close()
  })
})
