import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startCollector } from '#local/traces/collector.ts'
import type { ReceivedSpan } from '#local/traces/otlp.ts'

const received: ReceivedSpan[] = []
const collector = await startCollector(0, (spans) => received.push(...spans))
beforeEach(() => received.splice(0))
afterAll(() => collector.stop())

const SPAN = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  name: 'look',
  startTimeUnixNano: '1790000000000000000',
  endTimeUnixNano: '1790000000001000000',
}
const TRACES = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [SPAN] }] }] })

const send = (
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  method = 'POST',
) =>
  fetch(`${collector.address}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'POST' && { body }),
  })

describe('the collector of the local run', () => {
  it.each([
    ['none', (body: Buffer) => body, {}],
    ['gzip', gzipSync, { 'content-encoding': 'gzip' }],
    ['deflate', deflateSync, { 'content-encoding': 'deflate' }],
  ] as const)('reads spans with the compression %s', async (_, compress, headers) => {
    const answer = await send(
      '/v1/traces',
      new Uint8Array(compress(Buffer.from(TRACES))),
      headers as Record<string, string>,
    )
    expect([answer.status, await answer.json()]).toEqual([200, {}])
    expect(received.map(({ name }) => name)).toEqual(['look'])
  })

  it.each(['/v1/metrics', '/v1/logs'])('takes %s and drops them, as SDKs send them with their traces', async (path) => {
    for (const type of ['application/json', 'application/x-protobuf']) {
      const answer = await send(path, '{}', { 'content-type': type })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    }
    expect(received).toEqual([])
  })

  it.each([
    ['an unknown path', 404, () => send('/v1/profiles', '{}')],
    ['another method', 405, () => send('/v1/traces', '', {}, 'GET')],
    ['another type', 415, () => send('/v1/traces', '<a/>', { 'content-type': 'text/xml' })],
    ['another compression', 400, () => send('/v1/traces', TRACES, { 'content-encoding': 'br' })],
    ['no JSON', 400, () => send('/v1/traces', 'hello')],
    ['no spans', 400, () => send('/v1/traces', '{"resourceSpans": 1}')],
    ['over 4 MiB', 400, () => send('/v1/traces', 'x'.repeat(4 * 1024 * 1024 + 1))],
  ])('refuses %s with a Status that says why', async (_, status, act) => {
    const answer = await act()
    expect(answer.status).toBe(status)
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.headers.get('content-type') === 'application/json') {
      expect(JSON.parse(body.toString())).toEqual({ code: expect.any(Number), message: expect.stringMatching(/.{10}/) })
    } else {
      // google.rpc.Status: code is field 1, message field 2.
      expect([body[0], body[2], body[3]]).toEqual([0x08, 0x12, body.length - 4])
      expect(body.subarray(4).toString()).toMatch(/^[\w ;/-]{10,}$/)
    }
  })
})
