import { afterEach, describe, expect, it } from 'vitest'
import type { Answer } from '#testkit/platform.ts'
import { isSampled } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage, usingWorld } from '#testkit/using-stage.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'
import { bearer, calling, endpoints, expectNoFailure, expectRefusal, nameOf } from './support.ts'

const platform = usingPlatform()
const stage = usingStage(platform)
const world = usingWorld(platform)

const PRISTINE = [Object.prototype, Array.prototype, Function.prototype, String.prototype].map((one) =>
  Reflect.ownKeys(one).map(String).sort().join(),
)
afterEach(() => {
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(([] as unknown as Record<string, unknown>).polluted).toBeUndefined()
  const now = [Object.prototype, Array.prototype, Function.prototype, String.prototype]
  expect(now.map((one) => Reflect.ownKeys(one).map(String).sort().join())).toEqual(PRISTINE)
})

const call = calling(platform)

/** As text, because an object literal would set the property that JSON only names. */
const BODIES = [
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"prototype":{"polluted":true}}',
  '{"__proto__.polluted":true}',
  '{"__proto__[polluted]":true}',
  '{"constructor.prototype.polluted":true}',
  '{"a":{"__proto__":{"polluted":true}}}',
  '{"a":[{"__proto__":{"polluted":true}}]}',
  '{"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":true}}',
  '{"toString":{"polluted":true},"valueOf":1,"hasOwnProperty":1,"toJSON":1,"then":1}',
  '{"__defineGetter__":1,"__lookupGetter__":1,"__defineSetter__":1}',
  '[{"__proto__":{"polluted":true}}]',
]
const writing = endpoints.filter(
  ({ method, consumes }) => method !== 'GET' && consumes !== 'form' && consumes !== 'ignored',
)

describe(`${BODIES.length} bodies that name prototypes at ${writing.length} endpoints`, () => {
  it('are refused or taken as data: nothing is polluted, nothing fails', async () => {
    for (const [at, endpoint] of writing.entries()) {
      const headers = world.credentials[endpoint.caller] ?? {}
      platform.clock.advance(1_200)
      await Promise.all(
        BODIES.filter((_, n) => isSampled(at + n, 3)).map(async (body) => {
          const answer = await platform.call(endpoint.method, pathWithUnknownIds(endpoint), { headers, body })
          expectNoFailure(answer, `${nameOf(endpoint)} ${body}`)
          if (!endpoint.anyJson && !endpoint.lenient) expectRefusal(answer, `${nameOf(endpoint)} ${body}`)
        }),
      )
    }
  })

  it('pollute nothing through query and form parameters', async () => {
    const NAMES = [
      '__proto__',
      '__proto__[polluted]',
      '__proto__.polluted',
      'constructor',
      'constructor[prototype][polluted]',
      'toString',
    ]
    for (const endpoint of endpoints.filter(({ method, path }) => method === 'GET' && !path.endsWith('/stream'))) {
      if (endpoint.group === 'docs' || endpoint.path.startsWith('/app') || /^\/(staff|developers)/.test(endpoint.path))
        continue
      const headers = world.credentials[endpoint.caller] ?? {}
      platform.clock.advance(1_000)
      await Promise.all(
        NAMES.map(async (name) => {
          const path = `${pathWithUnknownIds(endpoint)}?${encodeURIComponent(name)}=1`
          const answer = await platform.call('GET', path, { headers })
          expectNoFailure(answer, `${nameOf(endpoint)} ${name}`)
          if (!endpoint.lenient) expectRefusal(answer, `${nameOf(endpoint)} ${name}`, 'validation_error', 'not_found')
        }),
      )
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const endpoint of endpoints.filter(({ consumes }) => consumes === 'form')) {
      for (const name of NAMES) {
        const body = `${encodeURIComponent(name)}=1&client_id=x&client_secret=y`
        expectRefusal(await call(endpoint.method, endpoint.path, form, body), name, 'invalid_client')
      }
    }
  })
})

/** Names that every object inherits, as data. */
const INHERITED = {
  constructor: { prototype: { polluted: true } },
  prototype: { polluted: true },
  toString: 'text',
  valueOf: 1,
  hasOwnProperty: false,
  isPrototypeOf: null,
  // biome-ignore lint/suspicious/noThenProperty: as data; nothing awaits it
  then: 'not a promise',
  toJSON: 'not a function',
  length: -1,
  __defineGetter__: [1],
}
const PROTO = '{"__proto__":{"polluted":true}}'

describe('free-form objects keep inherited names as data and refuse __proto__', () => {
  it('input, output and steps of a run', async () => {
    const { app, run, callback } = await stage.running()
    const started = await call('POST', '/api/v1/runs', bearer(app.token), { input: INHERITED, trigger: 'constructor' })
    expect([started.status, started.body.input]).toEqual([201, INHERITED])
    const step = { type: 'constructor', output: INHERITED }
    const steps = await call('POST', `/api/v1/runs/${run.id}/steps`, bearer(callback), step)
    expect([steps.status, steps.body.items?.[0]?.output ?? steps.body.output ?? steps.body.steps?.[0].output]).toEqual([
      201,
      INHERITED,
    ])
    const done = { status: 'succeeded', output: INHERITED }
    const ended = await call('POST', `/api/v1/runs/${run.id}/complete`, bearer(callback), done)
    expect([ended.status, ended.body.output]).toEqual([200, INHERITED])
    const read = await call('GET', `/api/v1/runs/${run.id}`, bearer(app.token))
    expect([read.body.output, read.body.steps[0].output]).toEqual([INHERITED, INHERITED])
    for (const body of [`{"input":${PROTO}}`, `{"input":{"a":[${PROTO}]}}`]) {
      expectRefusal(await call('POST', '/api/v1/runs', bearer(app.token), body), body, 'validation_error')
    }
  })

  it('data of an event, polled and delivered', async () => {
    const { app, webhook } = await stage.subscribed()
    stage.hooks.requests.length = 0
    const args = { arguments: { type: 'constructor.prototype', data: INHERITED } }
    const emitted = await call('POST', '/api/v1/tools/emit_event/invoke', bearer(app.token), args)
    expect(emitted.body.result.type).toBe('custom.constructor.prototype')
    await platform.drain()
    const { body } = await call('GET', '/api/v1/events?types=custom.constructor.*', bearer(app.token))
    expect(body.items.map(({ data }: { data: unknown }) => data)).toEqual([INHERITED])
    expect(stage.hooks.requests.map(({ body: sent }) => JSON.parse(sent.toString()).data)).toEqual([INHERITED])
    expect(webhook.id).toBeTruthy()
    const proto = `{"arguments":{"type":"a","data":${PROTO}}}`
    expectRefusal(
      await call('POST', '/api/v1/tools/emit_event/invoke', bearer(app.token), proto),
      proto,
      'validation_error',
    )
  })

  it('arguments of tools, and tools with inherited names', async () => {
    const { token } = await stage.integration()
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const answer = await call('POST', `/api/v1/tools/${name}/invoke`, bearer(token), { arguments: {} })
      expectRefusal(answer, name, 'unknown_tool')
    }
    for (const key of Object.keys(INHERITED)) {
      const answer = await call('POST', '/api/v1/tools/workspace_info/invoke', bearer(token), {
        arguments: { [key]: 1 },
      })
      expectRefusal(answer, key, 'validation_error')
      expect(answer.body.error.details.fields).toHaveProperty([`arguments.${key}`])
    }
  })

  it('settings with inherited names', async () => {
    const properties = Object.fromEntries(Object.keys(INHERITED).map((name) => [name, { type: 'string' }]))
    const { owner, app } = await stage.submittable()
    const config = { type: 'object', properties }
    const body = { ...stage.manifestFor(owner, app), version: '1.1.0', config }
    const published = await owner.call('POST', `/api/v1/dev/apps/${app.id}/versions`, body)
    expect(published.status, published.text).toBe(201)
    expect(published.body.manifest.config).toEqual(config)
    platform.clock.advance(5_000)
    await owner.call('POST', `/api/v1/dev/apps/${app.id}/versions/1.1.0/promote`)
    await owner.call('POST', `/api/v1/dev/apps/${app.id}/submit`)
    await call('POST', `/admin/apps/${app.id}/approve`, { 'x-admin-key': 'local-admin-key' })
    const person = await stage.actors.signIn()
    const added = await call('POST', '/console/installations', bearer(person.token), {
      slug: app.slug,
      scopes: ['runs:write'],
    })
    const path = `/console/installations/${added.body.id}/settings`
    const values = Object.fromEntries(Object.keys(INHERITED).map((name) => [name, `my ${name}`]))
    const kept = await call('PUT', path, bearer(person.token), { values })
    expect(kept.status, kept.text).toBe(200)
    expect((await call('GET', path, bearer(person.token))).body.values).toEqual(values)
    const proto = `{"values":{"__proto__":"x"}}`
    const refused = await call('PUT', path, bearer(person.token), proto)
    expect([refused.status < 500, refused.status >= 400], refused.text).toEqual([true, true])
  })

  it('looked-up names: scopes, events, datasets, guides, locales, slugs, grant types', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      const admin = { 'x-admin-key': 'local-admin-key' }
      const { headers } = await stage.developer()
      const answers: [what: string, answer: Answer][] = [
        [
          'scope',
          await call('POST', '/api/v1/dev/apps', headers, {
            slug: 'abc',
            name: 'A',
            type: 'agent',
            requested_scopes: [name],
          }),
        ],
        ['type', await call('POST', '/api/v1/dev/apps', headers, { slug: 'abc', name: 'A', type: name })],
        ['dataset', await call('GET', `/admin/export/${name}`, admin)],
        ['guide', await call('GET', `/docs/${name}`, {})],
        ['example', await call('GET', `/api/v1/dev/sdk/examples/${name}`, {})],
        ['slug', await call('GET', `/console/install/${name}`, world.credentials.console ?? {})],
        ['time zone', await call('PATCH', '/console/me', world.credentials.console ?? {}, { time_zone: name })],
        ['sample event', await call('POST', '/api/v1/dev/sandbox/trigger', headers, { app_id: 'app_0', type: name })],
        ['denied tool', await call('PUT', '/admin/settings/denied-tools', admin, { denied_tools: [name] })],
        [
          'grant type',
          await call('POST', '/oauth/token.json', {}, { grant_type: name, client_id: name, client_secret: name }),
        ],
        ['sort', await call('GET', `/console/marketplace?sort=${name}`, world.credentials.console ?? {})],
        ['status', await call('GET', `/api/v1/runs?status=${name}`, world.credentials.integration ?? {})],
      ]
      for (const [what, answer] of answers) expectRefusal(answer, `${what} ${name}`)
    }
  })
})
