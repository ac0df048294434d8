import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Deps } from '#shared/foundation/work/work.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { lazyEndpoints, type Route, routeFields } from '#shared/http/route.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { everyAuthenticator } from '#testkit/authenticators.ts'

const open = (id: string, method: 'GET' | 'POST', path: `/${string}`, more: Partial<Endpoint> = {}): Endpoint => ({
  ...defineEndpoint({
    id,
    group: 'api',
    method,
    path,
    caller: 'none',
    summary: id,
    handler: async () => undefined,
    status: 204,
  }),
  ...more,
})

const COLOURS = [
  open('api.colours.list', 'GET', '/api/v1/colours', { elsewhere: ['PUT'] }),
  open('api.colours.create', 'POST', '/api/v1/colours'),
  open('api.colours.read', 'GET', '/api/v1/colours/{id}', { params: { id: 'run' } }),
]
const SHAPES = [open('api.shapes.list', 'GET', '/api/v1/shapes')]
const STANDARD = [open('oauth.tokens.create', 'POST', '/oauth/tokens', { standard: true })]
const SECRETS = [open('api.secrets.list', 'GET', '/api/v1/secrets', { caller: 'integration' })]

/** Starts a function whose modules are loaded at their first request. */
const start = () => {
  const loads: string[] = []
  const logs: string[] = []
  const broken = new Set<string>()
  const deps = {
    settings: { baseUrl: 'https://platform.test', lambda: { name: 'api', version: '1' } },
    clock: systemClock,
    log: createLogger('debug', (line) => logs.push(line)),
  } as unknown as Deps
  const module = (name: string, endpoints: Endpoint[]) =>
    lazyEndpoints(endpoints.map(routeFields), async () => {
      loads.push(name)
      if (broken.has(name)) throw new Error(`${name} is broken`)
      return { endpoints }
    })
  const handle = createPipeline(
    [
      ...module('colours', COLOURS),
      ...module('shapes', SHAPES),
      ...module('standard', STANDARD),
      ...module('secrets', SECRETS),
    ],
    everyAuthenticator,
    async () => deps,
  )
  const send = async (httpMethod: string, path: string) => {
    const event = { httpMethod, path, headers: {}, body: null, requestContext: {} } as unknown as APIGatewayProxyEvent
    const { statusCode, headers, body } = await handle(event, {} as Context)
    return { status: statusCode, headers: headers as Record<string, string>, body: body && JSON.parse(body) }
  }
  return { send, loads, logs, broken }
}

describe('an endpoint whose module is loaded at its first request', () => {
  it('is loaded once, and alone', async () => {
    const { send, loads } = start()
    expect(loads).toEqual([])
    expect((await send('GET', '/api/v1/colours')).status).toBe(204)
    expect((await send('GET', '/api/v1/colours')).status).toBe(204)
    expect(loads).toEqual(['colours'])
  })

  it('is not loaded for unknown paths and methods, impossible ids and preflights, whose answers need no module', async () => {
    const { send, loads } = start()
    expect((await send('GET', '/api/v1/sounds')).status).toBe(404)
    expect((await send('GET', '/api/v1/colours/red')).status).toBe(404)
    for (const method of ['DELETE', 'TRACE']) {
      const { status, headers, body } = await send(method, '/api/v1/colours')
      expect([status, headers.allow, body.error.code]).toEqual([405, 'GET, HEAD, POST, PUT', 'method_not_allowed'])
    }
    expect((await send('OPTIONS', '/api/v1/colours')).status).toBe(204)
    expect(loads).toEqual([])
  })

  it('answers 500 and logs the reason if its module fails, and the next request tries again', async () => {
    const { send, loads, logs, broken } = start()
    broken.add('shapes')
    const { status, body } = await send('GET', '/api/v1/shapes')
    expect([status, body.error.code]).toEqual([500, 'internal_error'])
    expect(JSON.stringify(body)).not.toContain('broken')
    expect(logs.join('')).toContain('shapes is broken')
    expect(logs.join('')).toContain('"endpoint":"api.shapes.list"')
    expect((await send('GET', '/api/v1/colours')).status).toBe(204)
    broken.clear()
    expect((await send('GET', '/api/v1/shapes')).status).toBe(204)
    expect(loads).toEqual(['shapes', 'colours', 'shapes'])
  })

  it('has errors in its own format even if its module fails', async () => {
    const { send, broken } = start()
    broken.add('standard')
    expect((await send('POST', '/oauth/tokens')).body).toMatchObject({ error: 'server_error' })
  })

  it('refuses callers without a credential whatever becomes of its module', async () => {
    const { send, broken } = start()
    broken.add('secrets')
    expect((await send('GET', '/api/v1/secrets')).status).toBe(401)
  })
})

it('the fields that are known before a module is loaded survive as JSON, in which the build writes them', () => {
  for (const endpoint of Object.values(requestFunctions).flat()) {
    const fields: Route = routeFields(endpoint)
    expect(JSON.parse(JSON.stringify(fields))).toEqual(fields)
  }
})
