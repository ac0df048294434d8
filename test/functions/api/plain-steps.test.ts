import { expect, it } from 'vitest'
import { createWorkerWork } from '#shared/http/worker.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { addSteps } from '#shared/work/runs/add-steps.ts'
import { type RunKey, runWrite } from '#shared/work/runs/change.ts'
import { StepEntity } from '#shared/work/runs/entity.ts'
import { cancelRun, completeRun } from '#shared/work/runs/finish.ts'
import { loadRunWithSteps } from '#shared/work/runs/read.ts'
import type { NewStep } from '#shared/work/runs/schemas.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

const startedRun = async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const token = await callbackToken(platform.deps, app, body.id)
  return { installation_id: app.installation.id, id: body.id as string, token }
}

/** Work of a request without an Idempotency-Key. */
const fresh = () => ({ ...createWorkerWork(platform.deps), hasFreshIds: true })

const said = (...texts: string[]): NewStep[] => texts.map((text) => ({ type: 'message', output: { text } }))

/** Adds steps in a request that dies before they count. */
const dying = (key: RunKey, ...texts: string[]) =>
  expect(
    addSteps({ ...fresh(), commit: () => Promise.reject(new Error('died')) }, key, said(...texts)),
  ).rejects.toThrow('died')

/** Returns what readers see of a run's steps. */
const shown = async (key: RunKey) => {
  const [run, steps] = await loadRunWithSteps(platform.deps, key)
  expect(run.step_count).toBe(steps.length)
  return steps.map(({ seq, output }) => [seq, 'json' in output && JSON.parse(output.json).text])
}

const itemsOf = async ({ id }: RunKey) =>
  (await platform.deps.table.query(StepEntity, { run_id: id }, { limit: 100, ascending: true })).items

it('steps whose request died before they counted are seen by nobody, and the next steps take their numbers', async () => {
  const key = await startedRun()
  await dying(key, 'lost', 'lost, too')
  expect(await shown(key)).toEqual([])
  await addSteps(fresh(), key, said('a'))
  await dying(key, 'lost again')
  const { body } = await platform.call('POST', `/api/v1/runs/${key.id}/steps`, {
    token: key.token,
    headers: { 'idempotency-key': 'once' },
    body: { steps: said('b', 'c') },
  })
  expect(body.items.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3])
  await dying(key, 'lost at the end')
  await completeRun(fresh(), key, { status: 'succeeded', output: {}, steps: said('d') })
  expect(await shown(key)).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
    [4, 'd'],
  ])
})

it('a run that gets a step while it is read comes with every step that it counts', async () => {
  const key = await startedRun()
  const { table } = platform.deps
  const stepsAreRead = Promise.withResolvers<void>()
  const overtaken = {
    query: async (...given: Parameters<typeof table.query>) => {
      const page = await table.query(...given)
      stepsAreRead.resolve()
      return page
    },
    get: async (...given: Parameters<typeof table.get>) => {
      await stepsAreRead.promise
      await addSteps(fresh(), key, said('a'))
      return table.get(...given)
    },
  } as typeof table
  const [run, steps] = await loadRunWithSteps({ table: overtaken }, key)
  expect([run.step_count, steps.length]).toEqual([1, 1])
})

it('no step follows the end of its run', async () => {
  const key = await startedRun()
  const work = fresh()
  const overtaken = {
    ...work,
    commit: async (...writes: Parameters<typeof work.commit>) => {
      await cancelRun(createWorkerWork(platform.deps), key)
      await work.commit(...writes)
    },
  }
  await expect(addSteps(overtaken, key, said('late'))).rejects.toMatchObject({ code: 'run_already_finished' })
  expect(await shown(key)).toEqual([])
})

it('steps that were counted by an attempt whose answer was lost are counted once', async () => {
  const key = await startedRun()
  const work = fresh()
  const repeating = {
    ...work,
    commit: async (...writes: Parameters<typeof work.commit>) => {
      await work.commit(...writes)
      // The same agent shows life meanwhile, so the repeated write doesn't find what it wrote.
      const [run] = await loadRunWithSteps(work, key)
      await work.table.transact([runWrite(run, { alive_at: 1 })])
      await work.commit(...writes)
    },
  }
  await addSteps(repeating, key, said('a'))
  expect(await shown(key)).toEqual([[1, 'a']])
})

it('steps that are reported at the same time all get a number of their own', async () => {
  const key = await startedRun()
  await Promise.all(Array.from({ length: 8 }, (_, i) => addSteps(fresh(), key, said(`${i}`, `${i}`))))
  const steps = await shown(key)
  expect(steps.map(([seq]) => seq)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1))
  for (let i = 0; i < 16; i += 2) expect(steps[i]?.[1]).toBe(steps[i + 1]?.[1])
})

it('a number of a step that shares an item is taken', async () => {
  const key = await startedRun()
  await addSteps(fresh(), key, said('a', 'b', 'c'))
  for (const seq of [1, 2, 3])
    await expect(addSteps(fresh(), key, [{ ...said('again')[0], seq } as NewStep])).rejects.toMatchObject({
      code: 'step_write_conflict',
    })
  expect(await shown(key)).toHaveLength(3)
})

it('a number that was skipped is free for a step with that number, and closed to steps that never counted', async () => {
  const key = await startedRun()
  const work = fresh()
  const skipped = {
    ...work,
    commit: async (...writes: Parameters<typeof work.commit>) => {
      await addSteps(fresh(), key, [{ ...said('ten')[0], seq: 10 } as NewStep])
      await work.commit(...writes)
    },
  }
  // Its item is written under number 1 before another request takes 10, and it then counts under 11.
  let overtaken = false
  const once = {
    ...skipped,
    commit: (...writes: Parameters<typeof work.commit>) => {
      if (overtaken) return work.commit(...writes)
      overtaken = true
      return skipped.commit(...writes)
    },
  }
  await addSteps(once, key, said('eleven'))
  expect(await shown(key)).toEqual([
    [10, 'ten'],
    [11, 'eleven'],
  ])
  const late = StepEntity.create({
    ...((await itemsOf(key)).at(-1) as Awaited<ReturnType<typeof itemsOf>>[number]),
    seq: 1,
  })
  await expect(work.table.transact([late])).rejects.toThrow(ConditionFailed)
  await addSteps(fresh(), key, [{ ...said('one')[0], seq: 1 } as NewStep])
  expect(await shown(key)).toEqual([
    [1, 'one'],
    [10, 'ten'],
    [11, 'eleven'],
  ])
})
