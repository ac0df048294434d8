import { expect, it } from 'vitest'
import { createLogger } from '#shared/adapters/logger.ts'

it.each([
  ['a bot’s token', '4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qcB'],
  ['an address of the Bot API', 'https://api.telegram.org/bot42:token/getMe'],
  ['a start link', 'join_0123456789abcdef'],
])('%s is blotted out wherever it stands', (_what, secret) => {
  const lines: string[] = []
  const log = createLogger('debug', {}, (line) => lines.push(line))
  log.error(`failed: ${secret}`, { error: new Error(secret, { cause: new Error(secret) }), deep: { list: [secret] } })
  expect(lines[0]).toContain('[secret]')
  expect(lines[0]).not.toContain(secret)
  expect(lines[0]).not.toContain('token/getMe')
})

it('ids and ARNs stay readable', () => {
  const lines: string[] = []
  const told =
    'run_01kae5m1v8w6c3x9q2r7t4y0zn arn:aws:sqs:us-east-1:123456789012:Service-dev-Queue-with-a-long-long-name-0A'
  createLogger('debug', {}, (line) => lines.push(line)).info(told)
  expect(lines[0]).toContain(told)
})
