import { Readable } from 'node:stream'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { expect, it } from 'vitest'
import { endpoints } from '#functions/developer/listen.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import type { StreamedResult } from '#shared/http/streamed.ts'
import { everyAuthenticator } from '#testkit/authenticators.ts'
import { newApp, newDeveloper, newTeammate, publish, signedInByEmail, type TestDeveloper } from '#testkit/developers.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const withKey =
  (key: string): TestDeveloper['call'] =>
  (method, path, body) =>
    platform.call(method, path, { body, headers: { 'x-developer-key': key } })

/** Opens the stream of a listener, which ends only by itself. */
const listen = async (key: string, appId: string) => {
  const handle = createPipeline(endpoints, everyAuthenticator, async () => platform.deps)
  const event = {
    httpMethod: 'GET',
    path: '/api/v1/dev/listen',
    queryStringParameters: { app_id: appId },
    multiValueQueryStringParameters: { app_id: [appId] },
    headers: { 'x-developer-key': key },
  } as unknown as APIGatewayProxyEvent
  const result = (await handle(event, {} as Context)) as StreamedResult
  expect(result.statusCode).toBe(200)
  const stop = new AbortController()
  let isOver = false
  const ended = Readable.from(result.pieces(stop.signal))
    .toArray()
    .finally(() => {
      isOver = true
    })
  return { ended, stop: () => stop.abort(), isOver: () => isOver }
}

/** Opens a listener of a new account with one of its credentials, and ends that credential. */
const ending = async (
  open: (developer: TestDeveloper) => Promise<{ key: string; end: () => Promise<{ status: number }> }>,
) => {
  const developer = await newDeveloper(platform)
  const app = await newApp(developer)
  await succeeded(publish(developer, app))
  const { key, end } = await open(developer)
  const stream = await listen(key, app.id)
  expect((await end()).status).toBeLessThan(300)
  const again = () => withKey(key)('GET', `/api/v1/dev/listen?app_id=${app.id}`)
  return { ...stream, again }
}

it('a listener ends with each credential that opened it, and doesn’t get in again; others go on', async () => {
  const streams = {
    'a named key that was deleted': await ending(async ({ call }) => {
      const { id, api_key } = await succeeded(call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
      return { key: api_key, end: () => call('DELETE', `/api/v1/dev/me/keys/${id}`) }
    }),
    'the main key that was rotated': await ending(async ({ call, key }) => ({
      key,
      end: () => call('POST', '/api/v1/dev/me/rotate-key'),
    })),
    'a teammate who was removed': await ending(async (developer) => {
      const bo = await newTeammate(platform, developer, 'developer')
      return { key: bo.key, end: () => developer.call('DELETE', `/api/v1/dev/members/${bo.id}`) }
    }),
    'a teammate who became a viewer': await ending(async (developer) => {
      const bo = await newTeammate(platform, developer, 'developer')
      return { key: bo.key, end: () => developer.call('PATCH', `/api/v1/dev/members/${bo.id}`, { role: 'viewer' }) }
    }),
    'a session that signed out': await ending(async (developer) => {
      const bo = await newTeammate(platform, developer, 'developer')
      const { key, call } = await signedInByEmail(platform, bo.email)
      return { key, end: () => call('DELETE', '/api/v1/dev/session') }
    }),
    'a session whose key was deleted': await ending(async ({ call }) => {
      const { id, api_key } = await succeeded(call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
      const { session_key } = await succeeded(platform.call('POST', '/api/v1/dev/session', { body: { api_key } }))
      return { key: session_key, end: () => call('DELETE', `/api/v1/dev/me/keys/${id}`) }
    }),
    'an account that was blocked': await ending(async ({ id, key }) => ({
      key,
      end: () =>
        platform.call('POST', `/admin/developers/${id}/block`, {
          headers: { 'x-admin-key': 'local-admin-key' },
          body: { reason: 'It attacks others.' },
        }),
    })),
  }
  const honest = await ending(async ({ key }) => ({ key, end: async () => ({ status: 200 }) }))
  for (const [what, { ended, again }] of Object.entries(streams)) {
    await ended
    expect([401, 403], what).toContain((await again()).status)
  }
  expect(honest.isOver()).toBe(false)
  honest.stop()
  await honest.ended
})
