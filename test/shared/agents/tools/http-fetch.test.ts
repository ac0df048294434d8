import { describe, expect, test } from 'vitest'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import { requireFetchable } from '#shared/agents/tools/http-fetch.ts'

const deps = { http: createOutgoingHttp({ allowLoopbackHttp: false }) }

const fetching =
  (url: string, headers: Record<string, string> = {}) =>
  () =>
    requireFetchable(deps, { url, method: 'GET', headers })

describe('http_fetch refuses at invoke', () => {
  test.each(['http://example.com/', 'https://127.0.0.1/', 'https://localhost/', 'https://[::ffff:a00:1]/'])(
    'the address %s with blocked_target',
    (url) => expect(fetching(url)).toThrow(expect.objectContaining({ code: 'blocked_target' })),
  )

  test.each([
    'Authorization',
    'AUTHORIZATION',
    'authorization ',
    'Cookie',
    'Host',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Content-Length',
    'Expect',
    'Forwarded',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Real-IP',
    'X-SVC-Signature',
    'x-svc-event',
    'Webhook-Signature',
  ])('the header %s with validation_error', (name) =>
    expect(fetching('https://example.com/', { [name]: 'x' })).toThrow(
      expect.objectContaining({ code: 'validation_error' }),
    ),
  )

  test('nothing that an agent may send', () => {
    const headers = { Accept: '*/*', 'Content-Type': 'text/plain', 'X-Api-Key': 'k', 'If-None-Match': '"1"' }
    expect(fetching('https://example.com:8443/x', headers)).not.toThrow()
  })
})
