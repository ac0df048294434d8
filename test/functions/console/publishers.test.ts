import { describe, expect, it } from 'vitest'
import { newDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'

const platform = usingPlatform()
const stage = usingStage(platform)
const ADMIN = { 'x-admin-key': 'local-admin-key' }

describe('GET /console/publishers/{id}', () => {
  it('shows a developer with their listed apps only, and which of them are installed', async () => {
    const { app, owner } = await stage.listed()
    await owner.call('POST', '/api/v1/dev/apps', { slug: `${app.slug}-draft`, name: 'Not listed', type: 'agent' })
    const { token } = (await stage.integration()).person
    const { body: link } = await platform.call('GET', `/console/install/${app.slug}`, { token })
    const read = () => platform.call('GET', `/console/publishers/${link.app.developer_id}`, { token })
    const before = (await read()).body
    expect(before).toMatchObject({ id: link.app.developer_id, name: link.app.developer_name, verified: false })
    expect(before.apps.map(({ slug }: { slug: string }) => slug)).toEqual([app.slug])
    expect(before.apps[0].installation).toBeNull()
    await platform.call('POST', '/console/installations', { token, body: { slug: app.slug } })
    expect((await read()).body.apps[0].installation).toMatchObject({ status: 'active' })
    expect(JSON.stringify((await read()).body)).not.toContain('@')
  })

  it('finds nobody without listed apps, and nobody who is blocked', async () => {
    const { token } = (await installed(platform.deps)).person
    const developer = await newDeveloper(platform)
    const { body: me } = await developer.call('GET', '/api/v1/dev/me')
    const read = (id: string) => platform.call('GET', `/console/publishers/${id}`, { token })
    expect((await read(me.id)).status).toBe(404)
    const { app } = await stage.listed()
    const { body: link } = await platform.call('GET', `/console/install/${app.slug}`, { token })
    const id = link.app.developer_id
    expect((await read(id)).status).toBe(200)
    const block = { headers: ADMIN, body: { reason: 'Checks.' } }
    await platform.call('POST', `/admin/developers/${id}/block`, block)
    expect((await read(id)).status).toBe(404)
  })
})
