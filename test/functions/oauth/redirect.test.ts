import { parse } from 'node:querystring'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { redirectBack } from '#shared/access/oauth/redirect-back.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/entity.ts'
import { newApp, newDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

let app: App
const platform = usingPlatform()
const act = actors(platform)
beforeAll(async () => {
  app = (await installed(platform.deps)).app
})
beforeEach(() => platform.clock.advance(60_000))

const register = (...redirect_uris: string[]) =>
  platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { redirect_uris } })])

const accepted = async (redirect_uri: string): Promise<void> => {
  const answer = await act.authorize(app, { redirect_uri })
  expect(answer.status, redirect_uri).toBe(302)
  expect(answer.headers.location).toMatch(/^https:\/\/platform\.test\/oauth\/consent\?tg=[\w-]{43}$/)
}

const refused = async (redirect_uri: string): Promise<void> => {
  const answer = await act.authorize(app, { redirect_uri })
  const missing = redirect_uri === ''
  expect([answer.status, answer.body?.error.code], JSON.stringify(redirect_uri)).toEqual([
    400,
    missing ? 'invalid_request' : 'invalid_redirect_uri',
  ])
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.headers.location).toBeUndefined()
}

describe('a redirect_uri', () => {
  const registered = 'https://client.example/oauth/callback'
  const wrong: [what: string, address: string][] = [
    ['a trailing slash', `${registered}/`],
    ['the host in capitals', 'https://CLIENT.example/oauth/callback'],
    ['the scheme in capitals', 'HTTPS://client.example/oauth/callback'],
    ['the path in capitals', 'https://client.example/oauth/Callback'],
    ['http', 'http://client.example/oauth/callback'],
    ['another scheme', 'com.example.app://client.example/oauth/callback'],
    ['no scheme', '//client.example/oauth/callback'],
    ['javascript', 'javascript:alert(1)//client.example/oauth/callback'],
    ['the explicit default port', 'https://client.example:443/oauth/callback'],
    ['another port', 'https://client.example:8443/oauth/callback'],
    ['an empty port', 'https://client.example:/oauth/callback'],
    ['user information', 'https://user@client.example/oauth/callback'],
    ['the host as a user', 'https://client.example@evil.example/oauth/callback'],
    ['empty user information', 'https://@client.example/oauth/callback'],
    ['a fragment', `${registered}#x`],
    ['an empty fragment', `${registered}#`],
    ['a fragment before another host', 'https://evil.example#client.example/oauth/callback'],
    ['a query', `${registered}?a=1`],
    ['an empty query', `${registered}?`],
    ['a parameter in the path', `${registered};a=1`],
    ['a deeper path', `${registered}/deeper`],
    ['the parent path', 'https://client.example/oauth'],
    ['dot segments that resolve to it', 'https://client.example/other/../oauth/callback'],
    ['dot segments that resolve elsewhere', `${registered}/../../evil`],
    ['encoded dot segments', `${registered}/%2e%2e/%2e%2e/evil`],
    ['a single dot', 'https://client.example/./oauth/callback'],
    ['an encoded letter', 'https://client.example/oauth/%63allback'],
    ['an encoded slash', 'https://client.example/oauth%2Fcallback'],
    ['a backslash', 'https://client.example\\oauth\\callback'],
    ['a double slash', 'https://client.example//oauth/callback'],
    ['a subdomain', 'https://a.client.example/oauth/callback'],
    ['the host as a prefix', 'https://client.example.evil.example/oauth/callback'],
    ['the host as a suffix', 'https://evilclient.example/oauth/callback'],
    ['a dot after the host', 'https://client.example./oauth/callback'],
    ['a leading space', ` ${registered}`],
    ['a trailing space', `${registered} `],
    ['a line break after it', `${registered}\r\nLocation: https://evil.example`],
    ['a trailing NUL', `${registered}\0`],
    ['the address repeated', `${registered} ${registered}`],
    ['a look-alike', 'https://сlient.example/oauth/callback'],
    ['full-width letters', 'https://ｃlient.example/oauth/callback'],
  ]
  it.each(wrong)('is refused when it differs from the registered one by %s', async (_what, address) => {
    await register(registered, 'https://other.example/')
    await refused(address)
    await accepted(registered)
  })

  it('must match a loopback address including its port: native apps get no exception', async () => {
    await register('http://127.0.0.1:8400/callback', 'http://localhost/callback')
    await accepted('http://127.0.0.1:8400/callback')
    await accepted('http://localhost/callback')
    for (const address of [
      'http://127.0.0.1:8401/callback',
      'http://127.0.0.1/callback',
      'http://localhost:8400/callback',
      'http://localhost:80/callback',
      'http://[::1]:8400/callback',
      'http://127.1:8400/callback',
      'http://2130706433:8400/callback',
      'https://127.0.0.1:8400/callback',
    ]) {
      await refused(address)
    }
  })

  it('is refused when it is registered for another app', async () => {
    await register('https://client.example/mine')
    await refused('https://client.example/callback')
  })

  it('is refused for an app without registered addresses', async () => {
    await register()
    await refused('https://client.example/callback')
  })
})

const address = () => fc.webUrl({ validSchemes: ['https', 'http'], withQueryParameters: true, size: 'small' })

/** Generates small changes of a text, including none. */
const mutation = (): fc.Arbitrary<(text: string) => string> =>
  fc.oneof(
    fc.tuple(fc.nat(200), fc.string({ maxLength: 2 })).map(([at, put]) => (text: string) => {
      const i = at % (text.length + 1)
      return text.slice(0, i) + put + text.slice(i)
    }),
    fc.nat(200).map((at) => (text: string) => text.slice(0, at % text.length) + text.slice((at % text.length) + 1)),
    fc.nat(200).map((at) => (text: string) => text.slice(0, at % text.length)),
    fc.nat(200).map((at) => (text: string) => {
      const i = at % text.length
      return text.slice(0, i) + encodeURIComponent(text.charAt(i)) + text.slice(i + 1)
    }),
    fc.constantFrom<((text: string) => string)[]>(
      (text) => text.toUpperCase(),
      (text) => new URL(text).href,
      (text) => new URL('.', text).href,
      (text) => encodeURI(text),
      (text) => decodeURIComponent(text.replaceAll('%', '%25')),
      (text) => text.replace('://', '://user:pass@'),
      (text) => text.replace(/:\/\/([^/?]+)/, '://$1:443'),
      (text) => text.replace('://', '://www.'),
      (text) => text.replace(/^https/, 'http'),
      (text) => `${text}${text.includes('?') ? '&' : '?'}a=1`,
      (text) => `${text}#`,
      (text) => text,
    ),
  )

describe('for any registered address', () => {
  it('authorize accepts exactly that text, and answers any change of it as JSON without a Location', async () => {
    await fc.assert(
      fc.asyncProperty(address(), fc.array(mutation(), { minLength: 1, maxLength: 3 }), async (own, changes) => {
        await register('https://first.example/', own)
        await accepted(own)
        const changed = changes.reduce((text, change) => (URL.canParse(text) ? change(text) : text), own)
        if (changed === own || changed === 'https://first.example/') await accepted(changed)
        else await refused(changed)
      }),
      { numRuns: 250 },
    )
  })

  it('the redirect preserves it, and every parser finds code, state and iss after it', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 })
    fc.assert(
      fc.property(address(), text, text, fc.webUrl(), (own, code, state, baseUrl) => {
        fc.pre(!['code', 'state', 'iss'].some((name) => new URL(own).searchParams.has(name)))
        const back = redirectBack({ baseUrl }, own, { code, state, error: undefined })
        expect(back.startsWith(own)).toBe(true)
        const { searchParams } = new URL(back)
        const added = { code, state, iss: baseUrl }
        const before = [...new URL(own).searchParams]
        expect([...searchParams].slice(0, before.length)).toEqual(before)
        expect([...searchParams].slice(before.length)).toEqual(Object.entries(added))
        expect({ ...parse(back.slice(back.indexOf('?') + 1)) }).toMatchObject(added)
        expect(back.slice(own.length)).toMatch(/^[\x21-\x7e]+$/)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('state', () => {
  it('is returned unchanged, whatever it contains', async () => {
    const client = await installed(platform.deps)
    const texts = [
      'a+b c%20d%2B&e=f?g#h/;,',
      '☕ Zoë 👩‍👩‍👧 \u202e',
      '{"a":[1,"\\"\n\t\0"]}',
      'x'.repeat(4_096),
      ' ',
      '%00%ff%',
    ]
    for (const state of texts) {
      const { back } = await act.consented(client.app, { state })
      expect(back.searchParams.getAll('state'), state.slice(0, 40)).toEqual([state])
    }
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), async (state) => {
        platform.clock.advance(1_000)
        expect((await act.consented(client.app, { state })).back.searchParams.get('state')).toBe(state)
      }),
      { numRuns: 25 },
    )
  })

  it('is not returned when it wasn’t sent or is empty', async () => {
    const client = await installed(platform.deps)
    for (const state of [undefined, '']) {
      const { back } = await act.consented(client.app, { state })
      expect([...back.searchParams.keys()]).toEqual(['code', 'iss'])
    }
  })
})

describe('registering an address', () => {
  it('refuses text that parsers read differently, and queries that could hide the response parameters', async () => {
    const developer = await newDeveloper(platform)
    const { id } = await newApp(developer)
    const wrong = [
      'https://client.example/callback#',
      'https://client.example/call back',
      ' https://client.example/callback',
      'https://client.example/callback\n',
      'https:client.example/callback',
      'https:/client.example/callback',
      'https:\\\\client.example\\callback',
      'https://сlient.example/callback',
      'https://client.example/{tenant}',
      'https://client.example/?code=1',
      'https://client.example/?a=1&st%61te=x',
      'https://client.example/?iss=x',
      'https://client.example/?error=x',
      'com.example.app:/callback',
    ]
    for (const uri of wrong) {
      const { status, body } = await developer.call('PATCH', `/api/v1/dev/apps/${id}`, { redirect_uris: [uri] })
      expect([status, body.error?.code], uri).toEqual([422, 'validation_error'])
      expect(Object.keys(body.error.details.fields)).toEqual(['redirect_uris.0'])
    }
    const redirect_uris = [
      'https://client.example',
      'https://client.example/?tenant=a%20b&errors=1',
      "https://client.example:8443/a/%C3%A9/~b;c=1,2/(x)*'!$",
      'https://xn--lient-3ve.example/callback',
      'http://127.0.0.1:8400/callback',
    ]
    const { status, body } = await developer.call('PATCH', `/api/v1/dev/apps/${id}`, { redirect_uris })
    expect([status, body.redirect_uris]).toEqual([200, redirect_uris])
  })
})
