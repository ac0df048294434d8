import { expect, it } from 'vitest'
import { createLogger } from '#shared/adapters/logger.ts'
import { metricsNamespace } from '#shared/kernel/metrics.ts'

it.each([
  ['a bot’s token', '4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qcB'],
  ['an address of the Bot API', 'https://api.telegram.org/bot42:token/getMe'],
  ['a start link', 'join_0123456789abcdef'],
  ['an admin key', 'adk_0123456789abcdef'],
])('%s is redacted wherever it occurs', (_what, secret) => {
  const lines: string[] = []
  const log = createLogger('debug', (line) => lines.push(line))
  log.error(`failed: ${secret}`, { error: new Error(secret, { cause: new Error(secret) }), deep: { list: [secret] } })
  expect(lines[0]).toContain('[secret]')
  expect(lines[0]).not.toContain(secret)
  expect(lines[0]).not.toContain('token/getMe')
})

it('ids and ARNs stay readable', () => {
  const lines: string[] = []
  const text =
    'run_01kae5m1v8w6c3x9q2r7t4y0zn arn:aws:sqs:us-east-1:123456789012:Service-dev-Queue-with-a-long-long-name-0A'
  createLogger('debug', (line) => lines.push(line)).info(text)
  expect(lines[0]).toContain(text)
})

it('a line of repeated token prefixes is scanned in linear time', () => {
  const lines: string[] = []
  const began = performance.now()
  createLogger('debug', (line) => lines.push(line)).info('eyJ-'.repeat(50_000))
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(lines).toHaveLength(1)
})

it('metrics are written at any level, in the stage’s namespace; below info without the request’s fields', () => {
  const lines: string[] = []
  for (const level of ['info', 'error', 'silent'] as const) {
    const log = createLogger(level, (line) => lines.push(line), metricsNamespace('prod'))
    log.metrics('request', { Group: 'api' }, { Errors: [1, 'Count'] }, { request_id: 'req_1' })
  }
  const [whole, bare, ...more] = lines.map((line) => JSON.parse(line))
  expect(more).toEqual([])
  expect(whole).toMatchObject({ Group: 'api', Errors: 1, request_id: 'req_1' })
  expect(bare).toMatchObject({ Group: 'api', Errors: 1, _aws: { CloudWatchMetrics: [{ Namespace: 'Platform/prod' }] } })
  expect(bare.request_id).toBeUndefined()
})
