import { expect, it } from 'vitest'
import { IdempotencyRecordEntity } from '#shared/foundation/idempotency/entity.ts'
import { packAnswer, unpackAnswer } from '#shared/http/packed-answer.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const answer = {
  status: 201,
  headers: { 'x-request-id': 'req_1', 'content-type': 'text/plain' },
  body: 'Grüße, 世界 \\" {}',
}

it('a packed answer is restored', () => {
  expect(unpackAnswer(packAnswer(answer))).toEqual(answer)
})

const startTwice = async () => {
  const app = await installed(platform.deps)
  const start = () =>
    platform.call('POST', '/api/v1/runs', {
      token: app.token,
      body: { input: { question: 'How many red mugs are in stock?' }, trigger: 'api' },
      headers: { 'idempotency-key': 'a-key' },
    })
  const first = await start()
  const again = await start()
  expect(first.status).toBe(201)
  expect(again.headers['idempotency-replayed']).toBe('true')
  expect(again.body).toEqual(first.body)
  const scope_hash = sha256(`${app.installation.id}\nPOST /api/v1/runs\na-key`)
  return platform.deps.table.get(IdempotencyRecordEntity, { scope_hash })
}

it('the record of a new run’s answer fits into one write unit', async () => {
  const record = await startTwice()
  // The table's own attributes take up to 130 bytes more.
  expect(JSON.stringify(record).length).toBeLessThanOrEqual(1_024 - 130)
})
