import { expect, it } from 'vitest'
import { describeRequest } from '#shared/agents/tools/describe.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()

const running = async () => {
  agent.answer({ kind: 'answer', status: 202 })
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const token = await callbackToken(platform.deps, app, run.id)
  const fetching = (url: string, more: object = {}) =>
    platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: { arguments: { url, ...more } } })
  const seen = async (stepId: string) =>
    (
      await platform.call('GET', `/console/runs/${run.id}/steps/${stepId}/approval`, {
        token: app.person.token,
      })
    ).body
  return { fetching, seen, app, run }
}

it.each([
  ['a fraction slash that looks like a path', 'https://api.stripe.com\u2044v1\u2044charges.evil.com/x'],
  ['a letter of another script', 'https://\u0430pple.com/login'],
  ['a direction override', 'https://evil.com/\u202egpj.elif'],
  ['a zero-width space', 'https://api.stripe.com\u200b.evil.com/'],
  ['a full-width dot', 'https://api.stripe.com\uff0eevil.com/'],
  ['a backslash', 'https://evil.com\\@api.stripe.com/'],
  ['a line break', 'https://evil.com/\nhttps://api.stripe.com/'],
])('an agent can’t have an address with %s approved', async (_what, url) => {
  const { fetching } = await running()
  const { status, body } = await fetching(url)
  expect([status, body.error?.code]).toEqual([422, 'validation_error'])
  expect(body.error.details.fields).toHaveProperty(['arguments.url'])
  // The fix is ASCII as well, so it can't be misread either.
  expect(body.error.fix).toMatch(/^[\x20-\x7e\u2026]+$/)
})

it('a person sees the origin apart from the path, and an international name in both forms', async () => {
  const { fetching, seen } = await running()
  const { body } = await fetching('https://xn--pple-43d.com:8443/v1/charges?limit=3', {
    method: 'POST',
  })
  expect((await seen(body.step_id)).request).toEqual({
    method: 'POST',
    origin: 'https://xn--pple-43d.com:8443',
    path: '/v1/charges?limit=3',
    unicode_host: '\u0430pple.com',
    mixed_scripts: true,
  })
})

const mixes = (host: string) => describeRequest('http_fetch', { url: new URL(`https://${host}/`).href })?.mixed_scripts

it.each(['\u0430pple.com', 'g\u03bfogle.com', 'p\u0430yp\u0430l.example'])(
  '%s is flagged, because it mixes scripts',
  (host) => {
    expect(mixes(host)).toBe(true)
  },
)

it.each([
  'example.com',
  'b\u00fccher.example',
  '\u0440\u0444.example',
  '\u65e5\u672c\u8a9e\u306e\u30c6\u30b9\u30c8.example',
  '\ud55c\uad6d\u8a9e.example',
])('%s isn’t flagged: one language writes it', (host) => {
  expect(mixes(host)).toBe(false)
})
