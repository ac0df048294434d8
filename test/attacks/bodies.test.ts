import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { TOOLS } from '#shared/agents/tools/catalogue.ts'
import { parseForm, parseParameters } from '#shared/http/parse.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage, usingWorld } from '#testkit/using-stage.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'
import { bearer, endpoints, expectNoFailure, expectRefusal, nameOf, partsOf, sentSchema } from './support.ts'

const platform = usingPlatform()
const stage = usingStage(platform)
const world = usingWorld(platform)

/**
 * Longer than any of this takes on a busy machine, and far shorter than work that grows with the square of its size.
 */
const BOUNDED_MS = 8_000
const within = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
  const began = performance.now()
  const result = await work()
  expect(performance.now() - began, what).toBeLessThan(BOUNDED_MS)
  return result
}
const send = (
  path: string,
  body: unknown,
  headers: Record<string, string> = world.credentials.integration ?? {},
): Promise<Answer> => {
  platform.clock.advance(1_000)
  return platform.call('POST', path, { headers, body })
}

describe('patterns', () => {
  /** Every pattern that checks a declared body, query or tool argument. */
  const patterns = [
    ...new Set(
      [
        ...endpoints.flatMap(({ body, query }) => [body, query]),
        ...Object.values(TOOLS).map(({ input }) => input),
      ].flatMap((schema) => (schema ? partsOf(sentSchema(schema())) : []).flatMap(([, { pattern }]) => pattern ?? [])),
    ),
  ]
  const SIZE = 50_000
  const SEEDS = [
    'a',
    'A',
    '0',
    '-',
    '.',
    '_',
    '/',
    ' ',
    'a.',
    'a-',
    '.a',
    'a@',
    'a@a.',
    'a/',
    'a;',
    'a; a=',
    '0:',
    '\u00e9',
    '\u200d',
    'ab1.',
  ]
  const ENDS = ['', '!', '\n', '@', '\u0000']

  it(`none of the ${patterns.length} declared patterns is slow on ${SEEDS.length * ENDS.length} texts of ${SIZE} characters`, async () => {
    expect(patterns.length).toBeGreaterThan(10)
    for (const pattern of patterns) {
      const expression = new RegExp(pattern, 'u')
      await within(pattern, () => {
        for (const seed of SEEDS) {
          for (const end of ENDS) expression.test(seed.repeat(SIZE / seed.length) + end)
        }
      })
    }
  })

  it('event masks, search texts and filters made of repetitions take bounded time', async () => {
    const token = world.integration.token
    const masks = [
      'a*'.repeat(2_000),
      '*'.repeat(5_000),
      `${'a.'.repeat(2_000)}*`,
      '*.*.*',
      '**',
      'run.**',
      '(a+)+$',
      '[',
      '\\',
    ]
    for (const mask of masks) {
      const hook = { url: stage.hooks.url, events: [mask] }
      const answer = await within(mask.slice(0, 20), () => send('/api/v1/webhooks', hook, bearer(token)))
      expectRefusal(answer, mask.slice(0, 20), 'validation_error')
      platform.clock.advance(1_000)
      const polled = await platform.call('GET', `/api/v1/events?types=${encodeURIComponent(mask)}`, { token })
      expectRefusal(polled, mask.slice(0, 20), 'validation_error')
    }
    for (const q of [
      'a '.repeat(5_000),
      '\u0301'.repeat(10_000),
      '\ufdfa'.repeat(5_000),
      '(a+)+$',
      '*',
      '%',
      '\u200d'.repeat(9_000),
    ]) {
      platform.clock.advance(1_000)
      const headers = world.credentials.console ?? {}
      const path = `/console/marketplace?q=${encodeURIComponent(q)}`
      expectNoFailure(await within(q.slice(0, 10), () => platform.call('GET', path, { headers })), q.slice(0, 10))
    }
  })

  it('a valid mask is compared with a type once, whatever its form', async () => {
    const { token } = await stage.integration()
    const events = Array.from({ length: 20 }, (_, n) => `custom.${'a.'.repeat(n)}*`)
    await send('/api/v1/webhooks', { url: stage.hooks.url, events }, bearer(token))
    const type = `${'a.'.repeat(49)}b`
    await send('/api/v1/tools/emit_event/invoke', { arguments: { type, data: {} } }, bearer(token))
    await within('delivery', () => platform.drain())
  })
})

describe('huge and deeply nested bodies', () => {
  const deep = (levels: number, [open, close]: readonly [string, string]) => open.repeat(levels) + close.repeat(levels)
  const fields = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join()}}`

  const HOSTILE: [what: string, body: string][] = [
    ['100,000 lists in each other', deep(100_000, ['[', ']'])],
    ['100,000 lists that are never closed', '['.repeat(100_000)],
    ['40,000 objects in each other', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
    ['20,000 fields', fields(20_000)],
    ['a field of the input nested 30,000 deep', `{"input":{"a":${deep(30_000, ['[', ']'])}}}`],
    ['a name of 200,000 characters', `{"${'k'.repeat(200_000)}":1}`],
    ['a number of 200,000 digits', `{"input":${'9'.repeat(200_000)}}`],
    ['a fraction of 200,000 digits', `{"input":0.${'1'.repeat(200_000)}}`],
    ['an exponent out of range', '{"input":1e999999999}'],
    ['a repeated name', '{"trigger":"a","trigger":{"b":1}}'],
    ['a byte order mark', '\ufeff{}'],
    ['a leading NUL', '\u0000{}'],
    ['two values', '{}{}'],
    ['a comment', '{/* */}'],
    ['a trailing comma', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['NaN', '{"input":NaN}'],
    ['Infinity', '{"input":-Infinity}'],
    ['a raw line break in a string', '{"trigger":"a\nb"}'],
    ['a lone surrogate', '{"trigger":"\\ud800"}'],
    ['a lone surrogate as a name', '{"\\udc00":1}'],
    ['an invalid escape', '{"trigger":"\\x41"}'],
    ['a form as JSON', 'input=1&trigger=2'],
    ['XML', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['a billion laughs in YAML', `a: &a ["lol"]\nb: &b [${'*a,'.repeat(9)}]`],
    ['gzip', gzipSync('{}').toString('latin1')],
    ['deflate', deflateSync('{}').toString('latin1')],
    ['invalid UTF-8, as the gateway passes it on', '{"\ufffd\ufffd":"\ufffd"}'],
  ]

  it.each(HOSTILE)('%s: refused quickly with the right error', async (what, body) => {
    // The endpoints that accept the most: free-form input, a manifest, OAuth's parameters.
    const runs = await within(what, () => send('/api/v1/runs', body))
    expectRefusal(runs, what, 'bad_request', 'validation_error')
    const oauth = await within(what, () => send('/oauth/token.json', body, {}))
    expectRefusal(oauth, what, 'bad_request', 'validation_error', 'invalid_request', 'invalid_client')
    const manifest = await within(what, () => send('/api/v1/dev/manifest/validate', body, {}))
    expectNoFailure(manifest, what)
    if (manifest.status === 200) expect(manifest.body.valid, what).toBe(false)
    else expectRefusal(manifest, what, 'bad_request', 'validation_error', 'payload_too_large')
  })

  it('every endpoint that takes a body answers 413 over the limit, before it parses anything', async () => {
    for (const endpoint of endpoints.filter(
      ({ method, consumes }) => method !== 'GET' && consumes !== 'form' && consumes !== 'ignored',
    )) {
      const size = endpoint.maxBodyBytes + 1
      const headers = world.credentials[endpoint.caller] ?? {}
      platform.clock.advance(110)
      const answer = await platform.call(endpoint.method, pathWithUnknownIds(endpoint), {
        headers,
        body: '['.repeat(size),
      })
      // RFC 7591 has no code of its own for a large body.
      expectRefusal(
        answer,
        nameOf(endpoint),
        endpoint.path === '/connect/register' ? 'invalid_client_metadata' : 'payload_too_large',
      )
    }
  })

  it('the limit of 1 MiB counts bytes, not characters', async () => {
    const { token } = await stage.integration()
    const characters = 'é'.repeat(600_000)
    const answer = await send('/api/v1/runs', { input: { characters } }, bearer(token))
    expectRefusal(answer, 'two bytes each', 'payload_too_large')
  })

  it('hundreds of thousands of form parameters and their JSON are read in one pass', async () => {
    const form = Array.from({ length: 50_000 }, (_, n) => `k${n}=${n}`).join('&')
    await within('a form', () => parseForm(form, 'application/x-www-form-urlencoded'))
    const json = `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":"\\"${n}"`).join()}}`
    await within('JSON', () => parseParameters(json, 'application/json'))
    const quotes = JSON.stringify({ a: '\\"'.repeat(100_000) })
    await within('escapes', () => parseParameters(quotes, 'application/json'))
    const twice = '{"client_id":"a","client_secret":"b","client_id":"c"}'
    expectRefusal(await send('/oauth/token.json', twice, {}), 'twice', 'invalid_request')
  })
})

describe('content types and encodings', () => {
  const REFUSED = [
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json-seq',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/octet-stream',
    'application/',
    '/json',
    '*/*',
    'json',
    'text/html, application/json',
    'application /json',
    'application/json/x',
    'application/json\u0000',
    '__proto__',
    'a'.repeat(10_000),
  ]
  it(`${REFUSED.length} of them are refused as unsupported_media_type`, async () => {
    for (const type of REFUSED) {
      const headers = { ...world.credentials.integration, 'content-type': type }
      expectRefusal(await send('/api/v1/runs', '{}', headers), type.slice(0, 40), 'unsupported_media_type')
    }
  })

  it('parameters of an accepted content type don’t change how the body is read', async () => {
    const { token } = await stage.integration()
    for (const type of [
      'application/json; charset=utf-16',
      'APPLICATION/JSON',
      'application/json;x=y',
      'application/merge-patch+json',
    ]) {
      const answer = await send('/api/v1/runs', '{"trigger":"test"}', { ...bearer(token), 'content-type': type })
      expect([201, 409], `${type} ${answer.text}`).toContain(answer.status)
    }
  })

  it('a body that claims to be compressed is not inflated: a bomb is read as a few bytes of invalid JSON', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, '['))
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity, gzip']) {
      const headers = { ...world.credentials.integration, 'content-encoding': encoding }
      const answer = await within(encoding, () => send('/api/v1/runs', bomb.toString('latin1'), headers))
      expectRefusal(answer, encoding, 'bad_request')
    }
  })
})
