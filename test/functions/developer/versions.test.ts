import { createHash } from 'node:crypto'
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk'
import { exportJWK, generateKeyPair } from 'jose'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import {
  manifestFor,
  newApp,
  newDeveloper,
  publish,
  type TestApp,
  type TestDeveloper,
  unique,
} from '#testkit/developers.ts'
import type { Answer, Script } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
let developer: TestDeveloper

beforeAll(async () => {
  developer = await newDeveloper(platform)
})

const promote = (app: TestApp, version: string) =>
  developer.call('POST', `/api/v1/dev/apps/${app.id}/versions/${encodeURIComponent(version)}/promote`)
const approve = (app: TestApp) =>
  platform.deps.table.transact([
    AppEntity.update({ id: app.id }, { set: { status: 'approved', approved_at: platform.clock.now() } }),
  ])

describe('POST …/versions with the runtime a2a', () => {
  const agent = usingReceiver()
  let own: TestDeveloper
  beforeEach(async () => {
    own = await newDeveloper(platform)
    agent.requests.length = 0
  })

  const cardOf = (fields: Record<string, unknown> = {}) => ({
    name: 'Outside',
    supportedInterfaces: [{ url: `${agent.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    skills: [{ id: 'look' }],
    ...fields,
  })
  const answer = (body: string, status = 200) => ({ kind: 'answer', status, body }) as const
  const publishCard = async (runtime: Record<string, unknown> = {}, fields: Record<string, unknown> = {}) => {
    const app = await newApp(own)
    const manifest = { ...fields, runtime: { type: 'a2a', card_url: `${agent.url}/card.json`, ...runtime } }
    return { app, ...(await publish(own, app, manifest)) }
  }

  it('fetches the card once and keeps what runs need of it', async () => {
    const legacy = { url: `${agent.url}/old`, transport: 'JSONRPC' }
    const card = JSON.stringify(cardOf({ additionalInterfaces: [legacy], protocolVersion: '0.3.0', url: legacy.url }))
    agent.answer(answer(card))
    const { app, status, body } = await publishCard({ skill: 'look' })
    expect(status).toBe(201)
    expect(agent.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /card.json'])
    const stored = await platform.deps.table.get(VersionEntity, { app_id: app.id, id: body.id })
    expect(body.card).toEqual(stored?.card)
    expect(stored).toMatchObject({
      runtime_type: 'a2a',
      resume: true,
      card: {
        sha256: createHash('sha256').update(card).digest('hex'),
        name: 'Outside',
        interface: { url: `${agent.url}/a2a`, binding: 'JSONRPC', version: '1.0' },
        skills: ['look'],
      },
    })
  })

  it('takes an interface of 0.3 if the card has no newer one', async () => {
    const fields = { supportedInterfaces: undefined, protocolVersion: '0.3.0', url: `${agent.url}/rest` }
    agent.answer(answer(JSON.stringify(cardOf({ ...fields, preferredTransport: 'HTTP+JSON' }))))
    const { app, body } = await publishCard()
    expect(await platform.deps.table.get(VersionEntity, { app_id: app.id, id: body.id })).toMatchObject({
      card: { interface: { url: `${agent.url}/rest`, binding: 'HTTP+JSON', version: '0.3' } },
    })
  })

  it.each([
    ['no protocolVersion', {}],
    ['an empty protocolVersion and transport', { protocolVersion: '', preferredTransport: '' }],
    ['null for what it leaves out', { protocolVersion: null, additionalInterfaces: null, signatures: null }],
  ])('takes a card with %s for one of 0.3', async (_what, fields) => {
    agent.answer(answer(JSON.stringify(cardOf({ supportedInterfaces: undefined, url: `${agent.url}/rpc`, ...fields }))))
    const { status, body } = await publishCard()
    expect(status, JSON.stringify(body)).toBe(201)
    expect(body.card.interface).toEqual({ url: `${agent.url}/rpc`, binding: 'JSONRPC', version: '0.3' })
  })

  it('takes a card with the names of the schema', async () => {
    const { name, supportedInterfaces, skills } = cardOf()
    const supported_interfaces = supportedInterfaces.map(({ url }) => ({
      url,
      protocol_binding: 'JSONRPC',
      protocol_version: '1.0',
      tenant: null,
    }))
    const capabilities = { push_notifications: true }
    agent.answer(answer(JSON.stringify({ name, supported_interfaces, skills, capabilities })))
    const { body } = await publishCard()
    expect(body.card).toMatchObject({ interface: { url: `${agent.url}/a2a`, version: '1.0' }, pushes: true })
  })

  const at = (url: string) =>
    cardOf({ supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] })
  it.each<[string, () => Script]>([
    ['a redirect', () => ({ kind: 'redirect', location: `${agent.url}/other.json` })],
    ['a 404', () => answer('{}', 404)],
    ['a page', () => answer('<html>')],
    ['a card of more than 256 KiB', () => answer(JSON.stringify(cardOf({ description: 'x'.repeat(300_000) })))],
    ['a card without interfaces', () => answer(JSON.stringify(cardOf({ supportedInterfaces: [] })))],
    [
      'a card with gRPC only',
      () =>
        answer(
          JSON.stringify(
            cardOf({ supportedInterfaces: [{ url: agent.url, protocolBinding: 'GRPC', protocolVersion: '1.0' }] }),
          ),
        ),
    ],
    ['an interface at another host', () => answer(JSON.stringify(at('https://elsewhere.example.com/a2a')))],
    ['an interface inside a network', () => answer(JSON.stringify(at('https://10.0.0.1/a2a')))],
  ])('refuses %s with invalid_manifest at the card’s address, and publishes nothing', async (_what, script) => {
    agent.answer(script())
    const { app, status, body } = await publishCard()
    expect([status, body.error.code]).toEqual([422, 'invalid_manifest'])
    expect(body.error.details.errors).toMatchObject([{ path: '/runtime/card_url' }])
    expect(agent.requests).toHaveLength(1)
    expect((await own.call('GET', `/api/v1/dev/apps/${app.id}/versions`)).body.items).toEqual([])
  })

  describe('with a signature', () => {
    const elsewhere = usingReceiver()
    const sign = async (card: Record<string, unknown>, keysAt: string) => {
      const { publicKey, privateKey } = await generateKeyPair('ES256')
      const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1' }] }
      const header = { alg: 'ES256', kid: 'key-1', jku: `${keysAt}/jwks.json`, typ: 'JOSE' }
      // As the official library signs.
      const signed = await generateAgentCardSignature(privateKey, header)(AgentCard.fromJSON(card))
      const shown = { ...card, signatures: (AgentCard.toJSON(signed) as Record<string, unknown>).signatures }
      return { keys: answer(JSON.stringify(keys)), card: shown }
    }
    /** Both hosts serve the keys, and the agent's serves the card. */
    const serveSigned = (card: unknown, keys: Script) => {
      agent.answer(({ path }) => (path === '/card.json' ? answer(JSON.stringify(card)) : keys) as Answer)
      elsewhere.requests.length = 0
      elsewhere.answer(keys)
    }

    it('takes an interface at another host that vouches for the card, and keeps the key’s name', async () => {
      const { card, keys } = await sign(at(`${elsewhere.url}/a2a`), elsewhere.url)
      serveSigned(card, keys)
      const { status, body } = await publishCard()
      expect(status, JSON.stringify(body)).toBe(201)
      expect(body.card).toMatchObject({ kid: 'key-1', interface: { url: `${elsewhere.url}/a2a` } })
    })

    it('refuses another host for which only the card’s own host vouches', async () => {
      const { card, keys } = await sign(at(`${elsewhere.url}/a2a`), agent.url)
      serveSigned(card, keys)
      const { body } = await publishCard()
      expect(body.error.details.errors).toMatchObject([{ path: '/runtime/card_url' }])
      expect(elsewhere.requests).toHaveLength(0)
    })

    it('refuses a card that was changed after it was signed', async () => {
      const { card, keys } = await sign(cardOf(), agent.url)
      serveSigned({ ...card, description: 'Evil' }, keys)
      const { body } = await publishCard()
      expect(body.error.details.errors).toMatchObject([{ message: expect.stringContaining('doesn’t match the card') }])
      serveSigned(card, keys)
      expect((await publishCard()).body.card).toMatchObject({ kid: 'key-1' })
    })

    it('asks no other host for keys', async () => {
      const { card, keys } = await sign(cardOf(), elsewhere.url)
      serveSigned(card, keys)
      const { status, body } = await publishCard()
      expect([status, body.card.kid]).toEqual([201, undefined])
      expect(elsewhere.requests).toHaveLength(0)
    })
  })

  it('refuses a skill that the card doesn’t have', async () => {
    agent.answer(answer(JSON.stringify(cardOf())))
    const { body } = await publishCard({ skill: 'sing' })
    expect(body.error.details.errors).toMatchObject([{ path: '/runtime/skill' }])
  })

  it.each([
    [{ auth: { type: 'bearer', setting: 'nothing' } }, ['/runtime/auth/setting']],
    [{ auth: { type: 'bearer', setting: 'shown' } }, ['/runtime/auth/setting']],
    [{ auth: { type: 'bearer', setting: 'secret', header: 'X-Key' } }, ['/runtime/auth/header']],
    [{ auth: { type: 'api_key', setting: 'secret', header: 'Host' } }, ['/runtime/auth/header']],
    [
      { auth: { type: 'client_credentials', setting: 'secret' } },
      ['/runtime/auth/client_id_setting', '/runtime/auth/token_url'],
    ],
    [
      {
        auth: {
          type: 'client_credentials',
          setting: 'secret',
          client_id_setting: 'shown',
          token_url: 'http://10.0.0.1',
        },
      },
      ['/runtime/auth/token_url'],
    ],
    [{ card_url: 'https://169.254.169.254/card.json' }, ['/runtime/card_url']],
  ])('refuses %j like the validation, which fetches nothing', async (runtime, paths) => {
    const properties = { secret: { type: 'string', writeOnly: true }, shown: { type: 'string' } }
    const config = { type: 'object', properties }
    const { body } = await publishCard(runtime, { config })
    expect(body.error.details.errors.map(({ path }: { path: string }) => path)).toEqual(paths)
    expect(agent.requests).toHaveLength(0)
  })

  it('fetches at most 6 cards a minute for a developer', async () => {
    agent.answer(answer('{}', 404))
    const app = await newApp(own)
    const manifest = { runtime: { type: 'a2a', card_url: `${agent.url}/card.json` } }
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) statuses.push((await publish(own, app, manifest)).status)
    expect(statuses).toEqual([...Array(6).fill(422), 429])
    expect(agent.requests).toHaveLength(6)
  })
})

describe('POST …/versions', () => {
  it('answers 201 with the version and the manifest as sent', async () => {
    const app = await newApp(developer)
    const { status, body } = await publish(developer, app, { scopes: ['runs:write'] })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^ver_/),
      version: '1.0.0',
      status: 'published',
      created_at: expect.stringMatching(/\+00:00$/),
      manifest: manifestFor(developer, app, { scopes: ['runs:write'] }),
      promoted: false,
    })
  })

  it('answers version_exists for an existing version, even under 6 concurrent requests', async () => {
    const app = await newApp(developer)
    const answers = await Promise.all(Array.from({ length: 6 }, () => publish(developer, app)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, body.error.code]).toEqual([409, 'version_exists'])
    }
  })

  it('returns the same errors as validation, each with path, message and fix', async () => {
    const app = await newApp(developer)
    const manifest = manifestFor(developer, app, {
      version: 'v1',
      runtime: { type: 'webhook', endpoint: 'https://169.254.169.254/run' },
      surprise: 1,
    })
    const published = await developer.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifest)
    expect([published.status, published.body.error.code]).toEqual([422, 'invalid_manifest'])
    const { errors } = published.body.error.details
    expect(errors.map(({ path }: { path: string }) => path)).toEqual(['/runtime/endpoint', '/surprise', '/version'])
    const validated = await platform.call('POST', '/api/v1/dev/manifest/validate', { body: manifest })
    expect(validated.status).toBe(200)
    expect(validated.body).toMatchObject({ valid: false, errors })
  })

  it('requires the app’s slug, its scopes, and the developer’s own vendor', async () => {
    const app = await newApp(developer)
    const slug = await publish(developer, app, { id: `${manifestFor(developer, app).id}x` })
    expect(slug.body.error.details.errors[0].path).toBe('/id')
    const scope = await publish(developer, app, { scopes: ['files:write'] })
    expect(scope.body.error.details.errors[0].path).toBe('/scopes/0')
    expect((await publish(developer, app)).status).toBe(201)
    const vendor = await publish(developer, app, { id: `other.${app.slug}`, version: '2.0.0' })
    expect([vendor.status, vendor.body.error.code]).toEqual([422, 'invalid_manifest'])
    expect(vendor.body.error.details.errors[0].message).toContain('vendor')
  })

  it('is foretold by its validation, which knows the app, its developer and the versions that exist', async () => {
    const [own, other] = [await newDeveloper(platform), await newDeveloper(platform)]
    const app = await newApp(own)
    const taken = unique('acme')
    await other.call('POST', '/api/v1/dev/me/vendor', { vendor: taken })
    const manifest = manifestFor(own, app)
    const ask = async (fields: object) => {
      const answer = await own.call('POST', `/api/v1/dev/apps/${app.id}/versions/validate`, { ...manifest, ...fields })
      expect(answer.status).toBe(200)
      return answer.body
    }
    const refusedFor = async (fields: object): Promise<string[]> => {
      const report = await ask(fields)
      expect(report.valid).toBe(false)
      const published = await publish(own, app, fields as Record<string, unknown>)
      expect(published.status).toBeGreaterThanOrEqual(409)
      if (published.status === 422) expect(published.body.error.details.errors).toEqual(report.errors)
      return report.errors.map(({ path, message }: { path: string; message: string }) => `${path} ${message}`)
    }
    expect(await ask({})).toEqual({ valid: true, errors: [], warnings: [] })
    expect(await refusedFor({ id: `${taken}.${app.slug}` })).toEqual([expect.stringContaining('/id The vendor')])
    expect(await refusedFor({ scopes: ['files:write'] })).toEqual([expect.stringContaining('/scopes/0')])
    expect((await publish(own, app)).status).toBe(201)
    expect(await refusedFor({})).toEqual(['/version Version 1.0.0 already exists.'])
    expect(await refusedFor({ id: `other.${app.slug}`, version: '2.0.0' })).toEqual([
      expect.stringContaining('yours is'),
    ])
    expect(await ask({ version: '2.0.0' })).toMatchObject({ valid: true })
    const foreign = await other.call('POST', `/api/v1/dev/apps/${app.id}/versions/validate`, manifest)
    expect(foreign.status).toBe(404)
  })

  it('never fixes the placeholder of a template as the vendor', async () => {
    const own = await newDeveloper(platform)
    const app = await newApp(own)
    for (const vendor of ['vendor', 'your-vendor']) {
      const published = await publish(own, app, { id: `${vendor}.${app.slug}` })
      expect([published.status, published.body.error.code]).toEqual([422, 'invalid_manifest'])
      expect(published.body.error.details.errors).toMatchObject([
        { path: '/id', message: expect.stringContaining('placeholder') },
      ])
      const claimed = await own.call('POST', '/api/v1/dev/me/vendor', { vendor })
      expect([claimed.status, claimed.body.error.code]).toEqual([422, 'validation_error'])
    }
    expect((await own.call('GET', '/api/v1/dev/me')).body.vendor).toBeNull()
  })

  it('reserves the vendor for one developer with the first publication', async () => {
    const [one, other] = [await newDeveloper(platform), await newDeveloper(platform)]
    const vendor = unique('acme')
    const publishAs = async (by: TestDeveloper, version: string) => {
      const app = await newApp(by)
      return by.call('POST', `/api/v1/dev/apps/${app.id}/versions`, {
        ...manifestFor(by, app),
        id: `${vendor}.${app.slug}`,
        version,
      })
    }
    // With two concurrent first publications, the developer's second one must find the claim as their own.
    const answers = await Promise.all([publishAs(one, '1.0.0'), publishAs(one, '1.0.1')])
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect((await one.call('GET', '/api/v1/dev/me')).body.vendor).toBe(vendor)
    const stolen = await publishAs(other, '1.0.0')
    expect([stolen.status, stolen.body.error.code]).toEqual([422, 'invalid_manifest'])
    expect((await other.call('GET', '/api/v1/dev/me')).body.vendor).toBeNull()
  })

  it('accepts a manifest of almost 256 KiB and refuses a larger one with 413', async () => {
    const app = await newApp(developer, { slug: unique('large') })
    const tools = (n: number) =>
      Array.from({ length: n }, (_, i) => ({
        name: `tool_${i}`,
        description: 'x'.repeat(1_950),
        input_schema: { type: 'object' },
      }))
    const { status, body } = await publish(developer, app, { tools: tools(100) })
    expect(status).toBe(201)
    expect(body.manifest.tools).toHaveLength(100)
    const listed = await developer.call('GET', `/api/v1/dev/apps/${app.id}/versions`)
    expect(listed.body.items[0].manifest).toEqual(body.manifest)
    const large = await publish(developer, app, { version: '2.0.0', padding: 'x'.repeat(262_144) })
    expect([large.status, large.body.error.code]).toEqual([413, 'payload_too_large'])
  })

  it('answers any JSON without a 5xx', async () => {
    const app = await newApp(developer)
    for (const body of [
      '[]',
      '"text"',
      '0',
      'null',
      '{}',
      '{"id":{}}',
      '[[[[[[]]]]]]',
      '{"runtime":[],"tools":{},"config":3}',
    ]) {
      const published = await developer.call('POST', `/api/v1/dev/apps/${app.id}/versions`, body)
      expect([published.status, published.body.error.code], body).toEqual([422, 'invalid_manifest'])
      const validated = await platform.call('POST', '/api/v1/dev/manifest/validate', { body })
      expect([validated.status, validated.body.valid], body).toEqual([200, false])
    }
    const broken = await platform.call('POST', '/api/v1/dev/manifest/validate', { body: '{' })
    expect([broken.status, broken.body.error.code]).toEqual([400, 'bad_request'])
  })
})

describe('GET …/versions', () => {
  it('lists newest first, in pages, and marks the promoted version', async () => {
    const app = await newApp(developer)
    for (const version of ['1.0.0', '1.2.0', '1.1.0']) {
      platform.clock.advance(1_000)
      await publish(developer, app, { version })
    }
    await promote(app, '1.2.0')
    const first = await developer.call('GET', `/api/v1/dev/apps/${app.id}/versions?limit=2`)
    const shown = ({ body }: typeof first) =>
      body.items.map(({ version, promoted }: Record<string, unknown>) => [version, promoted])
    expect(shown(first)).toEqual([
      ['1.1.0', false],
      ['1.2.0', true],
    ])
    const next = `/api/v1/dev/apps/${app.id}/versions?limit=2&cursor=${first.body.next_cursor}`
    expect(shown(await developer.call('GET', next))).toEqual([['1.0.0', false]])
  })

  it('shortens a page whose manifests wouldn’t fit into a response', async () => {
    const app = await newApp(developer)
    const tools = Array.from({ length: 100 }, (_, i) => ({
      name: `tool_${i}`,
      description: 'x'.repeat(1_950),
      input_schema: { type: 'object' },
    }))
    for (let i = 0; i < 24; i++) {
      platform.clock.advance(1_000)
      expect((await publish(developer, app, { version: `1.0.${i}`, tools })).status).toBe(201)
    }
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/api/v1/dev/apps/${app.id}/versions${cursor && `?cursor=${cursor}`}`
      const { body, text } = await developer.call('GET', path)
      expect(Buffer.byteLength(text)).toBeLessThan(5_000_000)
      seen.push(...body.items.map(({ version }: { version: string }) => version))
      cursor = body.next_cursor
    }
    expect(seen).toEqual(Array.from({ length: 24 }, (_, i) => `1.0.${23 - i}`))
  })
})

describe('POST …/versions/{v}/promote', () => {
  it('switches freely between versions until the app is approved', async () => {
    const app = await newApp(developer)
    await publish(developer, app)
    await publish(developer, app, { version: '2.0.0+build.1' })
    for (const version of ['1.0.0', '2.0.0+build.1', '1.0.0']) {
      const { status, body } = await promote(app, version)
      expect([status, body.version, body.promoted]).toEqual([200, version, true])
    }
    expect((await developer.call('GET', `/api/v1/dev/apps/${app.id}`)).body.promoted_version).toBe('1.0.0')
  })

  it('is not_found for an unknown version, in any form', async () => {
    const app = await newApp(developer)
    for (const version of ['9.9.9', 'x'.repeat(3_000), '%', 'ä'.repeat(64), 'VER#1']) {
      const { status, body } = await promote(app, version)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  })

  it('waits for moderation once the app is approved', async () => {
    const app = await newApp(developer)
    await publish(developer, app)
    await publish(developer, app, { version: '1.1.0' })
    await promote(app, '1.0.0')
    await approve(app)
    const { body } = await publish(developer, app, { version: '2.0.0' })
    expect(body.status).toBe('in_review')
    // Neither a new version, nor an old one that was never moderated.
    for (const version of ['2.0.0', '1.1.0']) {
      const { status, body: refused } = await promote(app, version)
      expect([status, refused.error.code]).toEqual([409, 'conflict'])
      expect(refused.error.message).toContain('moderation')
    }
    expect((await promote(app, '1.0.0')).status).toBe(200)
    const key = { app_id: app.id, id: body.id }
    await platform.deps.table.transact([VersionEntity.update(key, { set: { status: 'rejected' } })])
    expect((await promote(app, '2.0.0')).status).toBe(409)
    await platform.deps.table.transact([VersionEntity.update(key, { set: { status: 'approved' } })])
    expect((await promote(app, '2.0.0')).status).toBe(200)
  })
})
