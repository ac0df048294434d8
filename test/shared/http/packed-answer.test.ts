import { expect, it } from 'vitest'
import { IdempotencyRecordEntity } from '#shared/foundation/idempotency/entity.ts'
import { LEAN_RECORDS, UpgradeEntity } from '#shared/foundation/upgrades/index.ts'
import { packAnswer, unpackAnswer } from '#shared/http/packed-answer.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { finishUpgrade } from '#testkit/finish-upgrade.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const answer = {
  status: 201,
  headers: { 'x-request-id': 'req_1', 'content-type': 'text/plain' },
  body: 'Grüße, 世界 \\" {}',
}

it.each([
  ['with the dictionary', true],
  ['as the version before did', false],
])('an answer that is packed %s is restored', (_how, isLean) => {
  expect(unpackAnswer(packAnswer(answer, isLean))).toEqual(answer)
})

it('an answer that was packed with today’s dictionary stays readable', () => {
  expect(
    unpackAnswer(Buffer.from('AcOdgrAkCEPM6gAUnPoFOYmZeUhpxb3o8J7D81N1FJ7smPZ8ao9CTEyMkkI10DYA', 'base64')),
  ).toEqual(answer)
})

const startTwice = async (between: () => Promise<void> = async () => {}) => {
  const app = await installed(platform.deps)
  const start = () =>
    platform.call('POST', '/api/v1/runs', {
      token: app.token,
      body: { input: { question: 'How many red mugs are in stock?' }, trigger: 'api' },
      headers: { 'idempotency-key': 'a-key' },
    })
  const first = await start()
  await between()
  const again = await start()
  expect(first.status).toBe(201)
  expect(again.headers['idempotency-replayed']).toBe('true')
  expect(again.body).toEqual(first.body)
  const scope_hash = sha256(`${app.installation.id}\nPOST /api/v1/runs\na-key`)
  return platform.deps.table.get(IdempotencyRecordEntity, { scope_hash })
}

it('an answer that was stored before the upgrade is repeated after it', async () => {
  await platform.deps.table.transact([UpgradeEntity.delete({ id: LEAN_RECORDS })])
  await startTwice(() => finishUpgrade(platform.deps, LEAN_RECORDS))
})

it('the record of a new run’s answer fits into one write unit', async () => {
  const record = await startTwice()
  // The table's own attributes take up to 130 bytes more.
  expect(JSON.stringify(record).length).toBeLessThanOrEqual(1_024 - 130)
})
