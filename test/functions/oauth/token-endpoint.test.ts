import { beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { actors, formOf, REDIRECT, refreshOf } from '#testkit/oauth.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const FORM = 'application/x-www-form-urlencoded'
const OTHER = 'https://client.example/other'

type Connected = Awaited<ReturnType<typeof act.connected>>
let client: Connected
const platform = usingPlatform()
const act = actors(platform)
beforeEach(async () => {
  platform.clock.advance(60_000)
  client = await act.connected()
})

/** Returns the parameters of a valid refresh. */
const refreshing = (): Record<string, string> => refreshOf(client, client.tokens.refresh_token)

/** The endpoint's two variants, form and JSON, which behave the same. */
const FORMS = ['/oauth/token', '/oauth/token.json'] as const
const post = (path: string, parameters: Record<string, string>, headers: Record<string, string> = {}) => {
  const form = !path.startsWith('/oauth/token.json')
  return platform.call('POST', path, {
    headers: { ...(form && { 'content-type': FORM }), ...headers },
    body: form ? new URLSearchParams(parameters).toString() : parameters,
  })
}

const refused = (answer: Answer, status: number, code: string, what?: string): void => {
  expect([answer.status, answer.body.error?.code], what).toEqual([status, code])
  expect(answer.headers['www-authenticate'], what).toMatch(new RegExp(`^Bearer error="${code}", error_description="`))
  expect(answer.headers['cache-control'], what).toBe('no-store')
  expect(answer.headers.pragma, what).toBe('no-cache')
  expect(answer.body.error.fix.length, what).toBeGreaterThan(10)
}

/** Expects the refused request to have left the refresh token valid. */
const stillRefreshes = async (): Promise<void> =>
  expect((await act.refresh(client, client.tokens.refresh_token)).status).toBe(200)

describe.each(FORMS)('POST %s', (path) => {
  it('forbids every cache to store the response, including HTTP/1.0 ones (RFC 6749 §5.1)', async () => {
    const answer = await post(path, refreshing())
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers.pragma).toBe('no-cache')
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['www-authenticate']).toBeUndefined()
  })

  it('checks the client, then grant_type, then missing parameters, then the code or token', async () => {
    const code = { ...refreshing(), grant_type: 'authorization_code', code: 'code_unknown', code_verifier: 'x' }
    const without = (parameters: Record<string, string>, ...names: string[]) =>
      Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)))
    const blank = (parameters: Record<string, string>, name: string) => ({ ...parameters, [name]: '' })
    const cases: [what: string, parameters: Record<string, string>, status: number, code: string, names?: string][] = [
      ['no client_id, and other errors', { grant_type: 'nonsense' }, 401, 'invalid_client', 'client_id'],
      ['a blank client_id', blank(refreshing(), 'client_id'), 401, 'invalid_client'],
      ['a blank client_secret', blank(refreshing(), 'client_secret'), 401, 'invalid_client'],
      ['client_id in upper case', { ...refreshing(), client_id: client.app.id.toUpperCase() }, 401, 'invalid_client'],
      ['no grant_type', without(refreshing(), 'grant_type'), 400, 'invalid_request', 'grant_type'],
      ['a blank grant_type', blank(refreshing(), 'grant_type'), 400, 'invalid_request', 'grant_type'],
      ['grant_type in upper case', { ...refreshing(), grant_type: 'REFRESH_TOKEN' }, 400, 'unsupported_grant_type'],
      ['grant_type with a space', { ...refreshing(), grant_type: 'refresh_token ' }, 400, 'unsupported_grant_type'],
      ['grant_type implicit', { ...refreshing(), grant_type: 'implicit' }, 400, 'unsupported_grant_type'],
      ['no refresh_token', without(refreshing(), 'refresh_token'), 400, 'invalid_request', 'refresh_token'],
      ['a blank refresh_token', blank(refreshing(), 'refresh_token'), 400, 'invalid_request', 'refresh_token'],
      ['REFRESH_TOKEN', { ...without(refreshing(), 'refresh_token'), REFRESH_TOKEN: 'x' }, 400, 'invalid_request'],
      ['no code', without(code, 'code'), 400, 'invalid_request', 'code'],
      ['a blank code_verifier', blank(code, 'code_verifier'), 400, 'invalid_request', 'code_verifier'],
      ['an unknown code', code, 400, 'invalid_grant'],
      ['an access token', { ...refreshing(), refresh_token: client.tokens.access_token }, 400, 'invalid_grant'],
      ['a code as refresh token', { ...refreshing(), refresh_token: client.consent.code }, 400, 'invalid_grant'],
    ]
    for (const [what, parameters, status, expected, names] of cases) {
      const answer = await post(path, parameters)
      refused(answer, status, expected, what)
      if (names) expect(answer.body.error.message, what).toContain(names)
    }
    await stillRefreshes()
  })

  it('checks for a required redirect_uri before it looks at the code', async () => {
    const redirect_uris = [REDIRECT, OTHER]
    await platform.deps.table.transact([AppEntity.update({ id: client.app.id }, { set: { redirect_uris } })])
    const unknown = { ...refreshing(), grant_type: 'authorization_code', code: 'code_unknown', code_verifier: 'x' }
    refused(await post(path, unknown), 400, 'invalid_request')
    refused(await post(path, { ...unknown, redirect_uri: '' }), 400, 'invalid_request')
    refused(await post(path, { ...unknown, redirect_uri: OTHER }), 400, 'invalid_grant')
  })

  it('refuses parameters in the URL, naming them without repeating their values', async () => {
    for (const [name, value] of Object.entries({ ...refreshing(), code: 'code_x', code_verifier: 'x', token: 'y' })) {
      const answer = await post(`${path}?${new URLSearchParams({ [name]: value })}`, refreshing())
      refused(answer, 400, 'invalid_request', name)
      expect(answer.body.error.message).toContain(name)
      if (value.length > 20) expect(answer.text).not.toContain(value)
    }
    const alone = await post(`${path}?${new URLSearchParams(refreshing())}`, {})
    refused(alone, 401, 'invalid_client')
    expect(alone.body.error.fix).toContain('never in the address')
    await stillRefreshes()
    expect((await post(`${path}?trace=1`, { ...refreshing(), grant_type: 'x' })).body.error.code).toBe(
      'unsupported_grant_type',
    )
  })

  it('refuses Basic credentials: invalid_client when alone, invalid_request together with body fields', async () => {
    const { client_id = '', client_secret = '', ...rest } = refreshing()
    const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
    const alone = await post(path, rest, { authorization })
    refused(alone, 401, 'invalid_client')
    expect(alone.body.error.fix).toMatch(/body fields.*without an Authorization header/)
    const half = await post(path, { ...rest, client_id }, { authorization })
    refused(half, 401, 'invalid_client')
    expect(half.body.error.fix).toContain('body fields')
    const twice = await post(path, refreshing(), { authorization })
    refused(twice, 400, 'invalid_request')
    expect(twice.body.error.fix).toContain('Authorization')
    refused(await post(path, { ...refreshing(), client_secret: 'cs_x' }, { authorization }), 401, 'invalid_client')
    await stillRefreshes()
  })

  it('ignores a bearer token, which many clients send with every request', async () => {
    const { client_id: _, client_secret: __, ...rest } = refreshing()
    const authorization = `Bearer ${client.tokens.access_token}`
    refused(await post(path, rest, { authorization }), 401, 'invalid_client')
    expect((await post(path, refreshing(), { authorization })).status).toBe(200)
  })

  it('ignores unknown parameters, including scope and several resources, and returns the granted scopes', async () => {
    const more = { scope: 'runs:read', audience: 'x', client_assertion: 'y', constructor: 'z' }
    const body =
      path === '/oauth/token'
        ? `${new URLSearchParams({ ...refreshing(), ...more })}&resource=https%3A%2F%2Fa.example&resource=urn%3Ab`
        : { ...refreshing(), ...more, resource: ['https://a.example', 'urn:b'], nested: { code: 1 } }
    const headers: Record<string, string> = path === '/oauth/token' ? { 'content-type': FORM } : {}
    const answer = await platform.call('POST', path, { headers, body })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.scope).toBe(client.tokens.scope)
  })

  it('accepts POST only', async () => {
    const answer = await platform.call('GET', path)
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
  })
})

describe('a repeated parameter is invalid_request', () => {
  it.each(['grant_type', 'client_id', 'client_secret', 'refresh_token', 'code_verifier', 'anything'])(
    '%s in a form, even with the same value or without one',
    async (name) => {
      const value = refreshing()[name] ?? 'x'
      for (const again of [value, 'other', '']) {
        const once = new URLSearchParams({ ...refreshing(), [name]: value })
        once.append(name, again)
        const answer = await platform.call('POST', '/oauth/token', formOf(once))
        refused(answer, 400, 'invalid_request', again)
        expect(answer.body.error.message).toContain(name)
      }
      await stillRefreshes()
    },
  )

  it('in JSON, too, in any notation, but not in nested objects or strings', async () => {
    const json = JSON.stringify(refreshing())
    const send = (body: string) => platform.call('POST', '/oauth/token.json', { body })
    const again = [
      `"grant_type":"refresh_token"`,
      `"client_secret" : "x"`,
      `"refresh\\u005ftoken":"x"`,
      `"other":1,"other"\n:2`,
    ]
    for (const one of again) {
      refused(await send(`{${one},${json.slice(1)}`), 400, 'invalid_request', one)
      refused(await send(`${json.slice(0, -1)},${one}}`), 400, 'invalid_request', one)
    }
    const fine = String.raw`{"a":{"grant_type":1,"b":[{"grant_type":"x"}]},"c":"\"grant_type\":\"x\",\\","d":"{[",${json.slice(1)}`
    expect((await send(fine)).status).toBe(200)
  })
})

describe('another content type is unsupported_media_type', () => {
  it.each([
    ['/oauth/token', 'application/json'],
    ['/oauth/token', 'multipart/form-data; boundary=x'],
    ['/oauth/token', 'text/plain'],
    ['/oauth/token', ''],
    ['/oauth/token.json', FORM],
    ['/oauth/token.json', 'text/json'],
    ['/oauth/token.json', ''],
  ])('%s: %s', async (path, type) => {
    const body = path === '/oauth/token' ? new URLSearchParams(refreshing()).toString() : JSON.stringify(refreshing())
    refused(
      await platform.call('POST', path, { headers: { 'content-type': type }, body }),
      415,
      'unsupported_media_type',
    )
    await stillRefreshes()
  })

  it.each([
    ['/oauth/token', 'Application/X-WWW-Form-Urlencoded; charset=UTF-8'],
    ['/oauth/token.json', 'APPLICATION/JSON ; charset="utf-8"'],
  ])('%s accepts %s as its own type', async (path, type) => {
    const body = path === '/oauth/token' ? new URLSearchParams(refreshing()).toString() : JSON.stringify(refreshing())
    expect((await platform.call('POST', path, { headers: { 'content-type': type }, body })).status).toBe(200)
  })
})

describe('malformed requests', () => {
  it.each(['[]', 'null', '"text"', '42', '[{"client_id":"x"}]', '{}', ''])('%s is invalid_client', async (body) => {
    const answer = await platform.call('POST', '/oauth/token.json', { body })
    refused(answer, 401, 'invalid_client', body)
  })

  it.each([
    ['%', 401],
    ['client_id', 401],
    ['=&=', 400],
    ['%FF%FE=%FF', 401],
    ['__proto__=x&constructor=y', 401],
    ['&&&', 401],
  ])('the form %s gets an error in the platform’s format', async (body, status) => {
    const answer = await platform.call('POST', '/oauth/token', { headers: { 'content-type': FORM }, body })
    refused(answer, status, status === 401 ? 'invalid_client' : 'invalid_request')
  })

  it.each([42, {}, ['x'], true])(
    '%j instead of a string counts as missing, even with the same Idempotency-Key',
    async (value) => {
      const cases = { authorization_code: 'code', refresh_token: 'refresh_token' }
      for (const [grant_type, name] of Object.entries(cases)) {
        const body = { ...refreshing(), grant_type, [name]: value }
        const headers = { 'idempotency-key': `no text ${name} ${JSON.stringify(value)}` }
        for (let time = 1; time <= 2; time++) {
          const answer = await platform.call('POST', '/oauth/token.json', { body, headers })
          refused(answer, 400, 'invalid_request', `${name}, time ${time}`)
        }
      }
    },
  )

  it('malformed JSON is bad_request', async () => {
    refused(await platform.call('POST', '/oauth/token.json', { body: '{"client_id":' }), 400, 'bad_request')
  })
})
