import { beforeEach, describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { ClaimEntity } from '#shared/foundation/claims/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { StoppageEntity } from '#shared/moderation/suspension/entity.ts'
import { markActive } from '#shared/work/runs/chain.ts'
import { ChainMarkEntity, RunEntity } from '#shared/work/runs/entity.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const ADMIN = { 'x-admin-key': 'local-admin-key' }
beforeEach(() => platform.clock.advance(60_000))

const admin = (path: string, body: unknown) => platform.call('POST', `/admin/${path}`, { headers: ADMIN, body })
const suspend = (kind: 'workspaces' | 'installations', id: string, status = 'suspended') =>
  admin(`${kind}/${id}/status`, { status, reason: 'Abuse.' })
const code = async (token: string) => (await platform.call('GET', '/api/v1/me', { token })).body.error?.code
const run = async ({ token }: Installed) =>
  (await platform.call('POST', '/api/v1/runs', { token, body: { input: {}, trigger: 'test' } })).body.id as string
const stored = ({ installation }: Installed, id: string) =>
  platform.deps.table.get(RunEntity, { installation_id: installation.id, id })
const running = async (agent: Installed) => {
  const id = await run(agent)
  const at = { installation_id: agent.installation.id, id }
  await platform.deps.table.transact([
    RunEntity.update(at, { set: { status: 'running', started_at: platform.clock.now() } }),
  ])
  return id
}
const typesOf = () => platform.outbox.map((event) => (event as { type: string }).type)

const SUBJECTS = {
  app: {
    suspend: ({ app }: Installed) => admin(`apps/${app.id}/suspend`, { reason: 'Abuse.' }),
    lift: ({ app }: Installed) => admin(`apps/${app.id}/unsuspend`, {}),
    code: 'app_suspended',
  },
  workspace: {
    suspend: ({ workspaceId }: Installed) => suspend('workspaces', workspaceId),
    lift: ({ workspaceId }: Installed) => suspend('workspaces', workspaceId, 'active'),
    code: 'installation_suspended',
  },
  installation: {
    suspend: ({ installation }: Installed) => suspend('installations', installation.id),
    lift: ({ installation }: Installed) => suspend('installations', installation.id, 'active'),
    code: 'installation_suspended',
  },
}

describe.each(Object.entries(SUBJECTS))('a suspended %s', (kind, subject) => {
  it('is refused at the next request: running runs are cancelled, queued ones fail, and each emits its event', async () => {
    const agent = await installed(platform.deps)
    const under = await running(agent)
    const queued = await run(agent)
    const answer = await subject.suspend(agent)
    expect(answer.status, answer.text).toBe(200)
    expect(await code(agent.token)).toBe(subject.code)
    await platform.drain()
    expect(await stored(agent, under)).toMatchObject({ status: 'cancelled', finished_at: expect.any(Number) })
    expect(await stored(agent, queued)).toMatchObject({ status: 'failed', error_code: subject.code })
    expect((await subject.lift(agent)).status).toBe(200)
    expect(await code(agent.token)).toBeUndefined()
    expect((await subject.lift(agent)).body.error.code).toBe('conflict')
  })

  it('ends a run that a concurrent request wrote in the second round, even if messages are lost', async () => {
    const agent = await installed(platform.deps)
    const early = await running(agent)
    await subject.suspend(agent)
    platform.outbox.length = 0
    const late = await written(agent, early)
    platform.clock.advance(61_000)
    await platform.sweep()
    await platform.drain()
    expect((await stored(agent, late))?.status).toBe('cancelled')
    platform.clock.advance(61_000)
    await platform.sweep()
    await platform.drain()
    platform.clock.advance(61_000)
    await platform.sweep()
    await platform.drain()
    const id = { app: agent.app.id, workspace: agent.workspaceId, installation: agent.installation.id }[kind as 'app']
    expect(await platform.deps.table.get(StoppageEntity, { kind, id })).toBeUndefined()
  })
})

describe('a suspension that is lifted while its runs are being stopped', () => {
  it('leaves runs alone that were started afterwards', async () => {
    const agent = await installed(platform.deps)
    const under = await running(agent)
    await SUBJECTS.app.suspend(agent)
    let after = ''
    // The worker has seen the suspension and is about to look for runs.
    const { table } = platform.deps
    const query = table.query.bind(table)
    table.query = (async (...args: Parameters<typeof query>) => {
      if (args[0].name === ChainMarkEntity.name && after === '') {
        after = 'being started'
        await SUBJECTS.app.lift(agent)
        platform.clock.advance(1)
        after = await running(agent)
      }
      return query(...args)
    }) as typeof table.query
    try {
      await platform.drain()
    } finally {
      table.query = query
    }
    expect((await stored(agent, under))?.status).toBe('cancelled')
    expect((await stored(agent, after))?.status).toBe('running')
  })
})

/** Writes a run as a request does that was let in before the suspension. */
const written = async ({ installation }: Installed, like: string) => {
  const { table } = platform.deps
  const run = await table.get(RunEntity, { installation_id: installation.id, id: like })
  if (!run) throw new Error('no run')
  const late = { ...run, id: newId('run', platform.clock.now()), due_at: platform.clock.now() + 600_000 }
  await table.transact([RunEntity.create(late), markActive(late)])
  return late.id
}

describe('an app with many installations', () => {
  it('has the runs of all of them stopped, page by page', async () => {
    const { deps, clock } = platform
    const first = await installed(deps)
    const more = () => {
      clock.advance(1)
      return installed(deps)
    }
    /** Moves an installation to the first one's app. */
    const joining = async (agent: Installed) => {
      const { installation } = agent
      await deps.table.transact([InstallationEntity.replace({ ...installation, app_id: first.app.id })])
      return { agent, run: await running(agent) }
    }
    const early = await joining(await more())
    for (let page = 0; page < 3; page++) {
      await deps.table.transact(
        Array.from({ length: 50 }, () => {
          clock.advance(1)
          return InstallationEntity.create({ ...first.installation, id: newId('installation', clock.now()) })
        }),
      )
    }
    const late = await joining(await more())
    await SUBJECTS.app.suspend(first)
    await platform.drain()
    for (const { agent, run: id } of [early, late]) expect((await stored(agent, id))?.status).toBe('cancelled')
    expect(await deps.table.get(StoppageEntity, { kind: 'app', id: first.app.id })).toMatchObject({ step: 4 })
  })
})

describe('a suspended workspace', () => {
  it('can be read but not changed by its members, who can switch to other workspaces', async () => {
    const { workspaceId, person } = await installed(platform.deps)
    await suspend('workspaces', workspaceId)
    const { token } = person
    expect((await platform.call('GET', '/console/me', { token })).body.workspace.status).toBe('suspended')
    const refused = await platform.call('POST', '/console/invitations', { token, body: {} })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
    expect(refused.body.error.message).toContain('suspended')
    expect((await platform.call('DELETE', '/console/session', { token })).status).toBe(204)
  })

  it('stays suspended while it is being deleted, and returns to the status that an admin set', async () => {
    const { workspaceId, person } = await installed(platform.deps)
    const { token } = person
    await platform.call('DELETE', '/console/workspace', { token })
    const { body } = await suspend('workspaces', workspaceId)
    expect(body).toMatchObject({ status: 'deleting', status_before: 'suspended' })
    const restored = await platform.call('POST', '/console/workspace/restore', { token })
    expect(restored.body.status).toBe('suspended')
  })
})

describe('an installation', () => {
  it('is not reactivated when it was uninstalled or its workspace is suspended', async () => {
    const uninstalled = await installed(platform.deps)
    await platform.call('DELETE', `/console/installations/${uninstalled.installation.id}`, {
      token: uninstalled.person.token,
    })
    expect((await suspend('installations', uninstalled.installation.id, 'active')).body.error.code).toBe('conflict')
    expect((await suspend('installations', uninstalled.installation.id)).body.error.code).toBe('conflict')
    const agent = await installed(platform.deps)
    await suspend('installations', agent.installation.id)
    expect(typesOf()).toContain('installation.updated')
    await suspend('workspaces', agent.workspaceId)
    const refused = await suspend('installations', agent.installation.id, 'active')
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'The installation’s workspace is suspended or being deleted.',
    ])
    await suspend('workspaces', agent.workspaceId, 'active')
    expect((await suspend('installations', agent.installation.id, 'active')).body.status).toBe('active')
  })
  it('stays suspended through an uninstall and a reinstall, until an admin lifts the suspension', async () => {
    const { app, installation, person, workspaceId } = await installed(platform.deps)
    const { table } = platform.deps
    await table.transact([ClaimEntity.create({ kind: 'slug', value: app.slug, owner_id: app.id })])
    await suspend('installations', installation.id)
    const { token } = person
    await platform.call('DELETE', `/console/installations/${installation.id}`, { token })
    const again = await platform.call('POST', '/console/installations', { token, body: { slug: app.slug } })
    expect(again.status, again.text).toBe(201)
    const { id } = again.body
    expect(await table.get(InstallationEntity, { workspace_id: workspaceId, id })).toMatchObject({
      status: 'suspended',
      status_reason: 'Abuse.',
    })
    expect((await suspend('installations', id, 'active')).body).toMatchObject({ status: 'active', status_reason: null })
    await platform.call('DELETE', `/console/installations/${id}`, { token })
    const third = await platform.call('POST', '/console/installations', { token, body: { slug: app.slug } })
    expect(third.body.status).toBe('active')
  })
})
