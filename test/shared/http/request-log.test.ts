import { expect, it } from 'vitest'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Exchange } from '#shared/http/exchange.ts'
import { logRequest } from '#shared/http/request-log.ts'

const logged = (status: number): Record<string, unknown>[] => {
  const lines: Record<string, unknown>[] = []
  const exchange = {
    deps: {
      log: createLogger('info', (line) => lines.push(JSON.parse(line))),
      settings: { lambda: { name: 'admin', version: '7' } },
    },
    route: { id: 'admin.apps.list', group: 'admin', path: '/admin/apps' },
    requestId: 'req_1',
    method: 'GET',
    path: '/admin/apps',
    caller: { kind: 'none' },
    startedAt: performance.now(),
  } as unknown as Exchange
  logRequest(exchange, status)
  return lines
}

it('a request has one line with its endpoint, status and duration, and no metric', () => {
  for (const status of [200, 403, 503]) {
    const [line, ...rest] = logged(status)
    expect(line).toMatchObject({ request_id: 'req_1', endpoint: 'admin.apps.list', status })
    expect(line?.duration_ms).toEqual(expect.any(Number))
    expect(line).not.toHaveProperty('_aws')
    // A 5xx is counted for its version, too.
    expect(rest.map(({ VersionErrors, Version }) => [VersionErrors, Version])).toEqual(status < 500 ? [] : [[1, '7']])
  }
})

it('a refusal for its rate is counted for its group, which an alarm watches', () => {
  const [line] = logged(429)
  expect(line).toMatchObject({
    request_id: 'req_1',
    status: 429,
    Group: 'admin',
    Throttled: 1,
    duration_ms: expect.any(Number),
  })
  expect(line?._aws).toMatchObject({
    CloudWatchMetrics: [{ Dimensions: [['Group']], Metrics: [{ Name: 'Throttled' }] }],
  })
})
