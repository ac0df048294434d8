import { exportJWK, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import { newApp, newDeveloper, type TestDeveloper, unique } from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

let developer: TestDeveloper

const platform = usingPlatform()
const strict = usingPlatform({ ALLOW_LOOPBACK_TARGETS: 'false' })
beforeAll(async () => {
  strict.deps.http = createOutgoingHttp({ allowLoopbackHttp: false })
  developer = await newDeveloper(platform)
})

const base = () => ({ slug: unique('slug'), type: 'agent', name: 'An app' })
const create = (body: unknown, by = developer) => {
  platform.clock.advance(1_000)
  return by.call('POST', '/api/v1/dev/apps', body)
}

describe('POST /api/v1/dev/apps', () => {
  it('answers 201 with the app, its credentials and its signing secret', async () => {
    const sent = {
      ...base(),
      summary: 'Short',
      description: 'Long',
      logo_url: 'https://example.com/logo.png',
      privacy_url: 'https://example.com/privacy#en',
      homepage_url: 'https://example.com/',
      install_url: 'https://example.com:8443/install?x=1',
      support_email: 'help@example.com',
      redirect_uris: ['https://example.com/callback', 'http://127.0.0.1:7777/cb'],
      requested_scopes: ['runs:write', 'tools:invoke'],
    }
    const { status, body, headers } = await create(sent)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...sent, status: 'draft', promoted_version: null, verified: false })
    expect(body.id).toMatch(/^app_/)
    expect(body.client_id).toBe(body.id)
    expect(body.client_secret).toMatch(/^cs_[A-Za-z0-9_-]{43}$/)
    expect(body.signing_secret).toMatch(/^agsec_[A-Za-z0-9+/]{43}=$/)
    expect(headers['cache-control']).toBe('no-store')
  })

  it('keeps public keys, replaces and removes them, and refuses private, shared, weak and incomplete ones', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }
    const { body } = await create({ ...base(), jwks })
    expect(body.jwks).toEqual(jwks)
    const change = (keys: object | null) =>
      developer.call('PATCH', `/api/v1/dev/apps/${body.id}`, { jwks: keys === null ? null : { keys } })
    const bad = [
      [],
      [await exportJWK(privateKey)],
      [{ kty: 'oct', k: 'c2VjcmV0' }],
      [{ kty: 'RSA', n: 'x'.repeat(171), e: 'AQAB' }],
      [{ kty: 'EC', crv: 'P-256', x: 'x' }],
      [{}],
      Array(11).fill(jwks.keys[0]),
    ]
    for (const keys of bad) expect([(await change(keys)).status, keys]).toEqual([422, keys])
    expect((await change(null)).body.jwks).toBe(null)
  })

  it('shows the secrets at creation only', async () => {
    const app = await newApp(developer)
    for (const path of [`/api/v1/dev/apps/${app.id}`, '/api/v1/dev/apps']) {
      const { text } = await developer.call('GET', path)
      expect(text).not.toContain(app.client_secret)
      expect(text).not.toMatch(/secret|hash/)
    }
  })

  it('answers slug_taken, even for another developer’s slug and under 8 concurrent requests', async () => {
    const one = await newDeveloper(platform)
    const other = await newDeveloper(platform)
    const sent = base()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 ? one : other).call('POST', '/api/v1/dev/apps', sent)),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, body.error.code]).toEqual([409, 'slug_taken'])
    }
  })

  it.each(['ab', '-abc', 'abc-', 'Abc', 'a_b_c', 'a'.repeat(41), 'äbc', 'a b', ''])(
    'refuses the slug %j',
    async (slug) => {
      const { status, body } = await create({ ...base(), slug })
      expect([status, Object.keys(body.error.details.fields)]).toEqual([422, ['slug']])
    },
  )

  it('allows exactly 20 apps, even under 25 concurrent requests', async () => {
    const many = await newDeveloper(platform)
    const answers = await Promise.all(Array.from({ length: 25 }, () => many.call('POST', '/api/v1/dev/apps', base())))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, body.error.code]).toEqual([403, 'app_limit_reached'])
    }
    const { body } = await many.call('GET', '/api/v1/dev/apps')
    expect(body.items).toHaveLength(20)
  })

  it('names an unknown scope', async () => {
    const { status, body } = await create({ ...base(), requested_scopes: ['runs:read', 'run:write'] })
    expect([status, body.error.code]).toEqual([422, 'validation_error'])
    expect(body.error.details.fields['requested_scopes.1'][0]).toContain('"run:write"')
  })

  it.each([
    [{ redirect_uris: ['myapp://callback'] }, 'redirect_uris.0', 'validation_error'],
    [{ redirect_uris: ['https://example.com/cb#part'] }, 'redirect_uris.0', 'validation_error'],
    [{ redirect_uris: ['/callback'] }, 'redirect_uris.0', 'validation_error'],
    [
      { redirect_uris: Array.from({ length: 21 }, (_, i) => `https://example.com/${i}`) },
      'redirect_uris',
      'validation_error',
    ],
    [{ redirect_uris: ['https://example.com/', 'http://example.com/cb'] }, 'redirect_uris.1', 'blocked_target'],
    [{ redirect_uris: ['https://user:pass@example.com/cb'] }, 'redirect_uris.0', 'blocked_target'],
    [{ logo_url: 'https://10.0.0.1/logo.png' }, 'logo_url', 'blocked_target'],
    [{ logo_url: 'https://[::ffff:169.254.169.254]/' }, 'logo_url', 'blocked_target'],
    [
      { homepage_url: 'https://0x7f000001.example/', privacy_url: 'https://2852039166/' },
      'privacy_url',
      'blocked_target',
    ],
    [{ install_url: 'http://example.com/' }, 'install_url', 'blocked_target'],
    [{ privacy_url: 'javascript:alert(1)' }, 'privacy_url', 'validation_error'],
    [{ support_email: 'nobody' }, 'support_email', 'validation_error'],
    // RFC 5321 §4.5.3.1.1
    [{ support_email: `${'x'.repeat(65)}@example.com` }, 'support_email', 'validation_error'],
    [{ type: 'robot' }, 'type', 'validation_error'],
    [{ name: ' ' }, 'name', 'validation_error'],
    [{ status: 'approved' }, 'status', 'validation_error'],
  ])('refuses %j', async (fields, field, code) => {
    const { status, body } = await create({ ...base(), ...fields })
    expect([status, body.error.code]).toEqual([422, code])
    expect(Object.keys(body.error.details.fields)).toEqual([field])
  })

  it('allows loopback addresses only if the local setting is on', async () => {
    const elsewhere = await newDeveloper(strict)
    for (const fields of [{ redirect_uris: ['http://localhost:3000/cb'] }, { logo_url: 'http://127.0.0.1/' }]) {
      const { status, body } = await elsewhere.call('POST', '/api/v1/dev/apps', { ...base(), ...fields })
      expect([status, body.error.code]).toEqual([422, 'blocked_target'])
      expect((await create({ ...base(), ...fields })).status).toBe(201)
    }
  })
})

describe('GET /api/v1/dev/apps', () => {
  it('lists the developer’s own apps, newest first, in pages', async () => {
    const lister = await newDeveloper(platform)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      platform.clock.advance(1_000)
      ids.unshift((await newApp(lister)).id)
    }
    const first = await lister.call('GET', '/api/v1/dev/apps?limit=3')
    expect(first.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 3))
    expect(first.body.has_more).toBe(true)
    const second = await lister.call('GET', `/api/v1/dev/apps?limit=3&cursor=${first.body.next_cursor}`)
    expect(second.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(3))
    expect(second.body).toMatchObject({ has_more: false, next_cursor: null })
    const foreign = await developer.call('GET', `/api/v1/dev/apps?limit=3&cursor=${first.body.next_cursor}`)
    expect([foreign.status, foreign.body.error.code]).toEqual([400, 'bad_request'])
  })
})

describe('GET, PATCH /api/v1/dev/apps/{id}', () => {
  it('changes only the given fields, replaces lists, and clears a URL for null', async () => {
    const app = await newApp(developer, {
      summary: 'Before',
      logo_url: 'https://example.com/logo.png',
      redirect_uris: ['https://a.example.com/', 'https://b.example.com/'],
    })
    const before = (await developer.call('GET', `/api/v1/dev/apps/${app.id}`)).body
    platform.clock.advance(5_000)
    const { status, body } = await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, {
      name: 'After',
      logo_url: null,
      redirect_uris: ['https://c.example.com/'],
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      ...before,
      name: 'After',
      logo_path: expect.stringMatching(/^\/console\/logos\/avatar-/),
      logo_url: null,
      redirect_uris: ['https://c.example.com/'],
      updated_at: body.updated_at,
    })
    expect(body.updated_at > before.updated_at).toBe(true)
    expect((await developer.call('GET', `/api/v1/dev/apps/${app.id}`)).body).toEqual(body)
  })

  it('keeps both of two concurrent edits of different fields', async () => {
    const app = await newApp(developer)
    await Promise.all([
      developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { summary: 'One' }),
      developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { description: 'Two' }),
    ])
    const { body } = await developer.call('GET', `/api/v1/dev/apps/${app.id}`)
    expect(body).toMatchObject({ summary: 'One', description: 'Two' })
  })

  it('can’t change slug, type or status', async () => {
    const app = await newApp(developer)
    for (const field of ['slug', 'type', 'status', 'client_id']) {
      const { status, body } = await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { [field]: 'agent' })
      expect([status, body.error.details.fields]).toEqual([422, { [field]: ['unknown field'] }])
    }
  })
})

describe('POST /api/v1/dev/apps/{id}/submit', () => {
  it('names everything that is missing for a review', async () => {
    const app = await newApp(developer)
    const { status, body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/submit`)
    expect([status, body.error.code]).toEqual([422, 'review_requirements_missing'])
    expect(body.error.details.missing).toEqual([
      'summary',
      'description',
      'logo_url',
      'privacy_url',
      'support_email',
      'promoted_version',
      'test_run',
    ])
  })
})
