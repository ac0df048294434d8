import { beforeEach, expect, it } from 'vitest'
import { AppInstallationEntity, InstallationEntity } from '#shared/access/installations/entity.ts'
import { unique } from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { install, listApp, signIn } from './marketplace-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const CONFIG = { type: 'object', properties: { region: { type: 'string' } } }

it('concurrent installs, uninstalls, upgrades and settings leave at most one installation, and revive none', async () => {
  const workspace = unique('workspace')
  const { app, release } = await listApp(platform, {}, { config: CONFIG })
  const admins = []
  for (let n = 0; n < 6; n++) admins.push(await signIn(platform, 'owner', workspace))
  const [first] = admins as [(typeof admins)[0]]
  const workspace_id = first.workspace.id
  const { id: oldest } = await install(platform, first.token, app)
  await release('1.1.0', { config: CONFIG })
  const statuses: number[] = []
  for (let round = 0; round < 3; round++) {
    platform.clock.advance(30_000)
    const guard = await platform.deps.table.get(AppInstallationEntity, { workspace_id, app_id: app.id })
    const path = `/console/installations/${guard?.installation_id}`
    const answers = await Promise.all(
      admins.flatMap(({ token }, n) => [
        platform.call('POST', '/console/installations', { token, body: { slug: app.slug } }),
        platform.call('PUT', `${path}/settings`, { token, body: { values: { region: `r${round}${n}` } } }),
        platform.call('POST', `${path}/upgrade`, { token }),
        ...(n < 3 ? [platform.call('DELETE', path, { token })] : []),
      ]),
    )
    statuses.push(...answers.map(({ status }) => status))
    await platform.drain()
  }
  expect(statuses.filter((status) => ![200, 201, 204, 404, 409].includes(status))).toEqual([])
  const { items } = await platform.deps.table.query(InstallationEntity, { workspace_id }, { limit: 100 })
  const live = items.filter(({ status }) => status !== 'revoked')
  expect(live.length).toBeLessThanOrEqual(1)
  const guard = await platform.deps.table.get(AppInstallationEntity, { workspace_id, app_id: app.id })
  if (live[0]) expect(guard?.installation_id).toBe(live[0].id)
  for (const revoked of items.filter(({ status }) => status === 'revoked')) {
    expect([revoked.id, revoked.settings, revoked.settings_set, revoked.settings_secret]).toEqual([
      revoked.id,
      undefined,
      undefined,
      undefined,
    ])
  }
  expect(items.find(({ id }) => id === oldest)?.status).toBe('revoked')
})
