import { expect, it } from 'vitest'
import { worker } from '#functions/workers/statistics.ts'
import { runWorker } from '#shared/http/worker.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { appFigures } from '#testkit/app-figures.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { eventsOf, runOf } from './statistics-support.ts'

const platform = usingPlatform()

it('only the unreadable messages of a batch are redelivered, and each is reported', async () => {
  const app = await installed(platform.deps)
  const { table, clock } = platform.deps
  const runs = [runOf(app, clock.now()), runOf(app, clock.now())]
  await table.transact(runs.map((run) => RunEntity.create(run)))
  const events = runs.flatMap(eventsOf)
  const message = (detail: unknown) => JSON.stringify({ 'detail-type': 'run', detail })
  const good = events.map(message)
  const bodies = [
    '{',
    ...good.slice(0, 2),
    '"text"',
    '"text"',
    ...good,
    message({ ...events[0], id: 'evt_1', data: '{' }),
  ]
  const records = bodies.map((body, i) => ({ messageId: `m${i}`, body, attributes: { ApproximateReceiveCount: '2' } }))
  const before = platform.logs.length
  const handle = runWorker(worker, () => platform.deps)
  const answer = await handle({ Records: records })
  const expected = ['m0', 'm3', 'm4', 'm9']
  expect(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(expected)
  const logged = platform.logs.slice(before).map((line) => JSON.parse(line))
  expect(logged.map(({ message, message_id, receives }) => [message, message_id, receives])).toEqual(
    expected.map((id) => ['message failed', id, '2']),
  )
  expect(await appFigures(platform.deps, app.app.id)).toMatchObject({ runs: 2, succeeded: 2 })
})

it('a batch whose records can’t be read from the store is redelivered as a whole', async () => {
  const app = await installed(platform.deps)
  const [event] = eventsOf(runOf(app, platform.clock.now()))
  const table = Object.assign(Object.create(platform.deps.table), {
    getAll: async () => {
      throw new Error('the store is down')
    },
  })
  const handle = runWorker(worker, () => ({ ...platform.deps, table }))
  const body = JSON.stringify({ 'detail-type': 'run.created', detail: event })
  const answer = await handle({
    Records: [
      { messageId: 'a', body },
      { messageId: 'b', body },
    ],
  })
  expect(answer?.batchItemFailures).toEqual([{ itemIdentifier: 'a' }, { itemIdentifier: 'b' }])
})
