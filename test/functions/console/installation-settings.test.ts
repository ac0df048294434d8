import { beforeEach, describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { cpuMs } from '#testkit/cpu.ts'
import { unique } from '#testkit/developers.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { install, listApp, signIn } from './marketplace-support.ts'

const platform = usingPlatform()
beforeEach(() => {
  platform.clock.advance(60_000)
  platform.outbox.length = 0
})

const CONFIG = {
  type: 'object',
  properties: {
    api_key: { type: 'string', title: 'API key', writeOnly: true, minLength: 4, maxLength: 40_000 },
    region: { type: 'string', enum: ['eu', 'us'], default: 'eu' },
    pages: { type: 'integer', minimum: 1, maximum: 10 },
    code: { type: 'string', pattern: '^[A-Z]{2}[0-9]+$' },
    loud: { type: 'boolean' },
  },
  required: ['api_key', 'region'],
}

const SECRET = 'sk-very-secret-0001'

const configured = async (config: object | null = CONFIG, manifest: Record<string, unknown> = {}) => {
  const workspace = unique('workspace')
  const app = await listApp(platform, {}, { ...(config && { config }), ...manifest })
  const owner = await signIn(platform, 'owner', workspace)
  const installation = await install(platform, owner.token, app.app)
  platform.clock.advance(1_000)
  platform.outbox.length = 0
  const path = `/console/installations/${installation.id}/settings`
  return {
    ...app,
    owner,
    installation,
    workspace,
    get: (token = owner.token) => platform.call('GET', path, { token }),
    put: (values: unknown, token = owner.token) => platform.call('PUT', path, { token, body: { values } }),
    shown: async () =>
      (await platform.call('GET', `/console/installations/${installation.id}`, { token: owner.token })).body,
    record: () =>
      platform.deps.table.get(InstallationEntity, { workspace_id: owner.workspace.id, id: installation.id }),
  }
}

describe('GET /console/installations/{id}/settings', () => {
  it('returns the form, its defaults and the missing settings', async () => {
    const { get, shown } = await configured()
    expect((await get()).body).toEqual({
      schema: CONFIG,
      values: { region: 'eu' },
      settings_complete: false,
      missing_settings: ['api_key'],
    })
    expect(await shown()).toMatchObject({ settings_complete: false, missing_settings: ['api_key'] })
  })

  it('returns an empty, complete form for an agent without settings', async () => {
    const { get, shown, put } = await configured(null)
    const form = {
      schema: { type: 'object', properties: {} },
      values: {},
      settings_complete: true,
      missing_settings: [],
    }
    expect((await get()).body).toEqual(form)
    expect(await shown()).toMatchObject({ settings_complete: true })
    expect((await put({})).body).toEqual(form)
    expect((await put({ any: 1 })).body.error.details.fields).toEqual({ any: ['is not expected here'] })
  })
})

describe('PUT /console/installations/{id}/settings', () => {
  it('seals a secret and never shows it again: in the response, record, audit, event or logs', async () => {
    const { put, get, record, owner, installation } = await configured()
    const answer = await put({ api_key: SECRET, pages: 3 })
    expect(answer.body).toEqual({
      schema: CONFIG,
      values: { api_key: { set: true }, region: 'eu', pages: 3 },
      settings_complete: true,
      missing_settings: [],
    })
    const audit = await platform.deps.table.query(AuditEntity, { scope: owner.workspace.id }, { limit: 1 })
    expect(audit.items[0]).toMatchObject({
      action: 'installation.settings_changed',
      actor: { type: 'user', id: owner.user.id },
      target: { type: 'installation', id: installation.id },
      details: { keys: ['api_key', 'pages'] },
    })
    expect(platform.outbox.map(({ type }) => type)).toEqual(['installation.updated'])
    const traces = [answer.text, (await get()).text, await record(), audit.items, platform.outbox, platform.logs]
    expect(JSON.stringify(traces)).not.toContain(SECRET)
    expect((await record())?.settings_set).toEqual(['api_key', 'pages'])
  })

  it('keeps a secret that is left out or sent masked, and removes it for null', async () => {
    const { put } = await configured({ ...CONFIG, required: [] })
    await put({ api_key: SECRET })
    expect((await put({ pages: 2 })).body.values).toEqual({ api_key: { set: true }, region: 'eu', pages: 2 })
    expect((await put({ api_key: { set: true } })).body.values).toEqual({ api_key: { set: true }, region: 'eu' })
    expect((await put({ api_key: null })).body.values).toEqual({ region: 'eu' })
    // The mask was never shown, so there is no secret to keep.
    expect((await put({ api_key: { set: true } })).body.values).toEqual({ region: 'eu' })
  })

  it('names every invalid, unknown or missing field, each with a fix', async () => {
    const { put, get } = await configured()
    const { status, body } = await put({ region: 'mars', pages: 1.5, code: 'x', loud: 'yes', regoin: 'eu', gone: null })
    expect([status, body.error.code]).toEqual([422, 'invalid_config'])
    expect(Object.keys(body.error.details.fields).sort()).toEqual(
      ['api_key', 'code', 'gone', 'loud', 'pages', 'region', 'regoin'].sort(),
    )
    for (const { field, fix, message } of body.error.details.errors)
      expect([field, fix, message].every(Boolean)).toBe(true)
    const fixes = Object.fromEntries(
      body.error.details.errors.map(({ field, fix }: { field: string; fix: string }) => [field, fix]),
    )
    expect(fixes).toMatchObject({ api_key: 'Give api_key a value.', regoin: 'Did you mean region?' })
    expect((await get()).body.values).toEqual({ region: 'eu' })
  })

  it('doesn’t quote an invalid secret', async () => {
    const { put } = await configured()
    const { text, status } = await put({ api_key: 'xyz' })
    expect(status).toBe(422)
    expect(text).not.toContain('xyz')
  })

  it.each([
    ['an object', { region: { deep: { deeper: 1 } } }],
    ['a list', { region: ['eu'] }],
    ['names of Object.prototype', { constructor: 'x', toString: 'y', hasOwnProperty: 'z' }],
    ['a mask for a field that is not a secret', { region: { set: true } }],
    ['a very long text for a field with a pattern', { code: 'A'.repeat(50_000) }],
  ])('refuses %s', async (_what, values) => {
    const { put } = await configured({ ...CONFIG, required: [] })
    const ms = await cpuMs(async () => {
      const { status, body } = await put(values)
      expect([status, body.error.code]).toEqual([422, 'invalid_config'])
    })
    expect(ms).toBeLessThan(1_000)
  })

  it('names as many unknown fields as fit into a response', async () => {
    const { put } = await configured()
    const names = Array.from({ length: 9_000 }, (_, n) => `regiom${n}`)
    for (const value of [null, 1]) {
      const { status, text } = await put(Object.fromEntries(names.map((name) => [name, value])))
      expect([status, text.length < 100_000], String(text.length)).toEqual([422, true])
    }
  })

  it('refuses values that aren’t an object, and __proto__', async () => {
    const { put, installation, owner } = await configured()
    for (const values of [null, [], 'x', 1]) expect((await put(values)).body.error.code).toBe('validation_error')
    const sent = await platform.call('PUT', `/console/installations/${installation.id}/settings`, {
      token: owner.token,
      body: '{"values":{"api_key":"sk-1234","__proto__":{"region":"us"}}}',
    })
    expect(sent.body.values?.region ?? 'refused').not.toBe('us')
  })

  it('limits the size of all values together, including stored ones', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`key_${i}`, { type: 'string', writeOnly: true }]),
    )
    const { put } = await configured({ type: 'object', properties })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await put({ [`key_${i}`]: 'x'.repeat(30_000) })).status)
    expect(statuses).toEqual([200, 200, 413, 413])
  })

  it('writes and emits nothing when the values are already set', async () => {
    const { put } = await configured()
    await put({ api_key: SECRET })
    platform.outbox.length = 0
    expect((await put({ api_key: SECRET })).status).toBe(200)
    expect(platform.outbox).toEqual([])
  })

  it('stores one of many concurrent requests whole, without mixing them', async () => {
    const { put, get } = await configured({ ...CONFIG, required: [] })
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => put({ pages: n, code: `AB${n}` })))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    const { pages, code } = (await get()).body.values
    expect(code).toBe(`AB${pages}`)
  })

  it('sends decrypted settings merged with defaults in run.execute, even when some are missing', async () => {
    const agent = await startReceiver()
    agent.answer({ kind: 'answer', status: 202 })
    const { put, owner, installation } = await configured(CONFIG, { runtime: { type: 'webhook', endpoint: agent.url } })
    const { token } = owner
    const started = async () => {
      const task = { title: 'Count', installation_id: installation.id }
      const { body } = await platform.call('POST', '/console/tasks', { token, body: task })
      await platform.call('POST', `/console/tasks/${body.id}/run`, { token, body: {} })
      await platform.drain()
      return JSON.parse(agent.requests.at(-1)?.body.toString() ?? '{}').installation?.settings
    }
    // Tasks require a scope that the app must hold.
    await platform.deps.table.transact([
      InstallationEntity.update(
        { workspace_id: owner.workspace.id, id: installation.id },
        { set: { scopes: ['tasks:write'] } },
      ),
    ])
    expect(await started()).toEqual({ region: 'eu' })
    await put({ api_key: SECRET, pages: 2 })
    expect(await started()).toEqual({ api_key: SECRET, region: 'eu', pages: 2 })
    await agent.close()
  })
})

describe('POST /console/installations/{id}/upgrade', () => {
  const upgrade = (token: string, id: string) =>
    platform.call('POST', `/console/installations/${id}/upgrade`, { token, body: {} })

  it('moves to the promoted version, emits an event and audits it, once', async () => {
    const { owner, installation, release, shown } = await configured()
    expect(await shown()).toMatchObject({ upgrade_available: false, latest_version: '1.0.0' })
    const same = await upgrade(owner.token, installation.id)
    expect([same.status, same.body.changed]).toEqual([200, false])
    expect(platform.outbox).toEqual([])
    await release('1.1.0')
    expect(await shown()).toMatchObject({
      upgrade_available: true,
      latest_version: '1.1.0',
      agent: { version: '1.0.0' },
      settings_complete: false,
    })
    const { status, body } = await upgrade(owner.token, installation.id)
    expect([status, body.changed, body.agent.version, body.upgrade_available]).toEqual([200, true, '1.1.0', false])
    expect(body.settings_complete).toBe(true)
    expect(platform.outbox.map(({ type }) => type)).toEqual(['installation.updated'])
    const audit = await platform.deps.table.query(AuditEntity, { scope: owner.workspace.id }, { limit: 1 })
    expect(audit.items[0]).toMatchObject({
      action: 'installation.upgraded',
      details: { before: '1.0.0', after: '1.1.0' },
    })
  })

  it('adds no scope, and names the consent that is missing', async () => {
    const { owner, installation, release } = await configured()
    const before = (await platform.call('GET', `/console/installations/${installation.id}`, { token: owner.token }))
      .body
    await platform.deps.table.transact([
      InstallationEntity.update(
        { workspace_id: owner.workspace.id, id: installation.id },
        { set: { scopes: ['tools:invoke'] } },
      ),
    ])
    await release('2.0.0', { scopes: ['runs:write', 'tools:invoke'] })
    const { body } = await upgrade(owner.token, installation.id)
    expect(body).toMatchObject({ changed: true, scopes: ['tools:invoke'], missing_scopes: ['runs:write'] })
    expect(before.scopes).toContain('runs:write')
  })

  it('withholds settings that don’t fit the version: not shown, not sent, and restored when it is moved back', async () => {
    const { owner, installation, release, put, get, record } = await configured()
    await put({ api_key: SECRET, pages: 3 })
    const properties = { api_key: { type: 'integer', writeOnly: true }, pages: { type: 'integer' } }
    await release('2.0.0', { config: { type: 'object', properties, required: ['api_key'] } })
    const { body } = await upgrade(owner.token, installation.id)
    expect(body).toMatchObject({ settings_complete: false, missing_settings: ['api_key'] })
    expect((await get()).body.values).toEqual({ pages: 3 })
    expect((await record())?.settings_set).toEqual(['pages'])
    await release('2.0.1', { config: CONFIG })
    expect((await upgrade(owner.token, installation.id)).body.settings_complete).toBe(true)
    expect((await get()).body.values).toEqual({ api_key: { set: true }, pages: 3, region: 'eu' })
  })

  it('treats a secret as unset in a later version that doesn’t declare it as one, until it is written again', async () => {
    const { owner, installation, release, put, get, shown } = await configured()
    await put({ api_key: SECRET, pages: 3 })
    const plain = { ...CONFIG, properties: { ...CONFIG.properties, api_key: { type: 'string' } } }
    for (const [version, config] of [
      ['2.0.0', plain],
      ['2.0.1', { ...plain, title: 'Settings' }],
    ] as const) {
      await release(version, { config })
      const { body } = await upgrade(owner.token, installation.id)
      expect(body).toMatchObject({ settings_complete: false, missing_settings: ['api_key'] })
      expect((await get()).body.values).toEqual({ pages: 3, region: 'eu' })
    }
    await release('2.1.0', { config: CONFIG })
    expect((await upgrade(owner.token, installation.id)).body.settings_complete).toBe(true)
    await release('3.0.0', { config: plain })
    await upgrade(owner.token, installation.id)
    expect((await put({ api_key: 'not a secret' })).body.values).toMatchObject({ api_key: 'not a secret' })
    expect(await shown()).toMatchObject({ settings_complete: true })
  })

  it('requires an active installation', async () => {
    const { owner, installation, release } = await configured()
    await release('1.1.0')
    const at = { workspace_id: owner.workspace.id, id: installation.id }
    await platform.deps.table.transact([InstallationEntity.update(at, { set: { status: 'suspended' } })])
    expect((await upgrade(owner.token, installation.id)).body.error.code).toBe('installation_suspended')
    await platform.deps.table.transact([InstallationEntity.update(at, { set: { status: 'revoked' } })])
    expect((await upgrade(owner.token, installation.id)).status).toBe(404)
  })
})
