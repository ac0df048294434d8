import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()

describe('the list of agents for tasks', () => {
  it('contains active installed agents and states whether each one holds tasks:read', async () => {
    const taking = await installed(platform.deps)
    const { workspaceId } = taking
    const others = await Promise.all([
      installed(platform.deps, { workspaceId, scopes: ['runs:read'] }),
      installed(platform.deps, { workspaceId }),
      installed(platform.deps, { workspaceId }),
      installed(platform.deps, { workspaceId }),
    ])
    const [reading, suspended, revoked, banned] = others as [typeof taking, typeof taking, typeof taking, typeof taking]
    await installed(platform.deps)
    const status = (app: typeof taking, value: 'suspended' | 'revoked') =>
      InstallationEntity.update({ workspace_id: workspaceId, id: app.installation.id }, { set: { status: value } })
    await platform.deps.table.transact([
      status(suspended, 'suspended'),
      status(revoked, 'revoked'),
      AppEntity.update({ id: banned.app.id }, { set: { status: 'suspended' } }),
      AppEntity.update({ id: taking.app.id }, { set: { logo_url: 'https://example.com/logo.png' } }),
    ])
    const person = consoleOf(platform, taking.person.token)
    expect((await person.read('/agents')).items).toEqual([
      {
        installation_id: taking.installation.id,
        app_id: taking.app.id,
        slug: taking.app.slug,
        name: taking.app.name,
        summary: 'An agent.',
        logo_url: 'https://example.com/logo.png',
        logo_path: expect.stringMatching(/^\/console\/logos\/avatar-/),
        verified: false,
        agent: { id: taking.installation.agent_id, version: '1.0.0' },
        takes_tasks: true,
        answers_chats: true,
      },
    ])
    const { items } = await person.read('/agents?all=true')
    const flags = new Map(items.map((one: { slug: string; takes_tasks: boolean }) => [one.slug, one.takes_tasks]))
    expect(Object.fromEntries(flags)).toEqual({ [taking.app.slug]: true, [reading.app.slug]: false })
    const ban = await person.call('PUT', '/settings/bans', { denied_tools: [], denied_scopes: ['tasks:read'] })
    expect(ban.status).toBe(200)
    expect((await person.read('/agents')).items).toEqual([])
  })
})
