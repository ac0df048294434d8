import { beforeEach, describe, expect, it } from 'vitest'
import { AppInstallationEntity, InstallationEntity } from '#shared/access/installations/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { installed, member, workspace } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const ADMIN = { 'x-admin-key': 'local-admin-key' }
const report = (token: string, body: object) => platform.call('POST', '/console/abuse-reports', { token, body })
const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const admin = (method: string, path: string, body?: object) => platform.call(method, path, { headers: ADMIN, body })

describe('an abuse report about an agent', () => {
  it('is listed for admins newest first, and audited without its text', async () => {
    const { app, person, workspaceId } = await installed(platform.deps)
    const { status, body } = await report(person.token, { app_id: app.id, category: 'spam', text: 'It will not stop.' })
    expect([status, body.id, body.status]).toEqual([201, expect.stringMatching(/^abr_/), 'open'])
    const list = await admin('GET', '/admin/abuse-reports?status=open')
    expect(list.body.items[0]).toMatchObject({ id: body.id, text: 'It will not stop.', reported_by: person.user.id })
    const { items } = await platform.deps.table.query(AuditEntity, { scope: workspaceId }, { limit: 10 })
    expect(items).toMatchObject([{ action: 'abuse.reported', target: { id: app.id }, details: { report_id: body.id } }])
    expect(JSON.stringify(items)).not.toContain('will not stop')
  })

  it('is accepted for an app that is or was installed or is listed, and for no other', async () => {
    const { app, person, installation, workspaceId } = await installed(platform.deps)
    const stranger = await member(platform.deps, (await workspace(platform.deps)).id, 'owner')
    expect(codeOf(await report(stranger.token, { app_id: app.id, text: 'Bad.' }))).toBe('not_found')
    expect(codeOf(await report(person.token, { app_id: 'app_nothing', text: 'Bad.' }))).toBe('not_found')
    await platform.deps.table.transact([
      InstallationEntity.update({ workspace_id: workspaceId, id: installation.id }, { set: { status: 'revoked' } }),
      AppInstallationEntity.check({ workspace_id: workspaceId, app_id: app.id }, { where: {} }),
    ])
    expect(codeOf(await report(person.token, { app_id: app.id, text: 'Bad.' }))).toBe(201)
  })

  it('may name only a run of that app in that workspace', async () => {
    const [own, other] = [await installed(platform.deps), await installed(platform.deps)]
    const start = async (token: string) => (await platform.call('POST', '/api/v1/runs', { token, body: {} })).body.id
    const [run_id, foreign] = [await start(own.token), await start(other.token)]
    const body = { app_id: own.app.id, text: 'Look.' }
    for (const wrong of [foreign, 'run_nothing']) {
      expect(codeOf(await report(own.person.token, { ...body, run_id: wrong }))).toBe('validation_error')
    }
    expect((await report(own.person.token, { ...body, run_id })).body.run_id).toBe(run_id)
  })

  it('is limited to one per person and app until it is resolved, even under ten concurrent requests', async () => {
    const { app, person, workspaceId } = await installed(platform.deps)
    const body = { app_id: app.id, text: 'Bad.' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => report(person.token, body)))
    expect(answers.map(codeOf).filter((code) => code !== 'conflict')).toEqual([201])
    const id = answers.find(({ status }) => status === 201)?.body.id
    expect(answers.find(({ status }) => status === 409)?.body.error.details).toEqual({ report_id: id })
    const colleague = await member(platform.deps, workspaceId, 'member')
    expect(codeOf(await report(colleague.token, body))).toBe(201)

    const decisions = await Promise.all(
      ['upheld', 'dismissed', 'upheld'].map((resolution) =>
        admin('POST', `/admin/abuse-reports/${id}/resolve`, { resolution, reason: 'Looked at.' }),
      ),
    )
    expect(decisions.map(codeOf).sort()).toEqual([200, 'conflict', 'conflict'])
    expect(codeOf(await report(person.token, body))).toBe(201)
  })
})

describe('the admin lists', () => {
  it('count exactly under concurrent writers, and return each record once at any offset', async () => {
    const total = async (query = '') => (await admin('GET', `/admin/abuse-reports?limit=1${query}`)).body.total
    const [all, open] = [await total(), await total('&status=open')]
    const customers = await Promise.all(Array.from({ length: 25 }, () => installed(platform.deps)))
    const made = await Promise.all(
      customers.map(({ app, person }) => report(person.token, { app_id: app.id, text: 'Bad.' })),
    )
    expect(made.every(({ status }) => status === 201)).toBe(true)
    platform.clock.advance(10_000)
    const resolved = made.slice(0, 5)
    await Promise.all(
      resolved.map(({ body }) =>
        admin('POST', `/admin/abuse-reports/${body.id}/resolve`, { resolution: 'dismissed', reason: 'No.' }),
      ),
    )
    expect([await total(), await total('&status=open')]).toEqual([all + 25, open + 20])
    const seen: string[] = []
    for (let offset = 0; offset < all + 25; offset += 7) {
      platform.clock.advance(1_000)
      const { body } = await admin('GET', `/admin/abuse-reports?limit=7&offset=${offset}`)
      expect(body).toMatchObject({ limit: 7, offset })
      seen.push(...body.items.map(({ id }: { id: string }) => id))
    }
    expect(seen).toEqual([...seen].sort().reverse())
    expect([seen.length, new Set(seen).size]).toEqual([all + 25, all + 25])
  })

  it('show agent requests with the status that an admin set, and the requester is notified', async () => {
    const { person, workspaceId } = await installed(platform.deps)
    const asked = await platform.call('POST', '/console/agent-requests', {
      token: person.token,
      body: { title: 'One' },
    })
    const set = (body: object) => admin('POST', `/admin/agent-requests/${asked.body.id}/status`, body)
    expect(codeOf(await set({ status: 'claimed' }))).toBe('conflict')
    expect((await set({ status: 'fulfilled', reason: 'It is there.' })).body).toMatchObject({
      status: 'fulfilled',
      status_reason: 'It is there.',
      workspace_id: workspaceId,
      asked_by: person.user.id,
    })
    const { body } = await admin('GET', '/admin/requests?status=fulfilled')
    expect([body.total, body.items[0].id]).toEqual([1, asked.body.id])
    const mine = await platform.call('GET', '/console/agent-requests?mine=true', { token: person.token })
    expect(mine.body.items[0]).toMatchObject({ status: 'fulfilled', status_reason: 'It is there.' })
  })
})
