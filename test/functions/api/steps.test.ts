import { expect, it } from 'vitest'
import { createWorkerWork } from '#shared/http/worker.ts'
import { addSteps } from '#shared/work/runs/add-steps.ts'
import type { RunKey } from '#shared/work/runs/change.ts'
import { cancelRun } from '#shared/work/runs/finish.ts'
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

const work = () => createWorkerWork(platform.deps)

const said = (...texts: string[]): NewStep[] => texts.map((text) => ({ type: 'message', output: { text } }))

/** Returns what readers see of a run's steps. */
const shown = async (key: RunKey) => {
  const [run, steps] = await loadRunWithSteps(platform.deps, key)
  expect(run.step_count).toBe(steps.length)
  return steps.map(({ seq, output }) => [seq, 'json' in output && JSON.parse(output.json).text])
}

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
      await addSteps(work(), key, said('a'))
      return table.get(...given)
    },
  } as typeof table
  const [run, steps] = await loadRunWithSteps({ table: overtaken }, key)
  expect([run.step_count, steps.length]).toEqual([1, 1])
})

it('no step follows the end of its run', async () => {
  const key = await startedRun()
  const slow = work()
  const overtaken = {
    ...slow,
    commit: async (...writes: Parameters<typeof slow.commit>) => {
      await cancelRun(work(), key)
      await slow.commit(...writes)
    },
  }
  await expect(addSteps(overtaken, key, said('late'))).rejects.toMatchObject({ code: 'run_already_finished' })
  expect(await shown(key)).toEqual([])
})

it('steps that are reported at the same time all get a number of their own', async () => {
  const key = await startedRun()
  await Promise.all(Array.from({ length: 8 }, (_, i) => addSteps(work(), key, said(`${i}`, `${i}`))))
  const steps = await shown(key)
  expect(steps.map(([seq]) => seq)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1))
  for (let i = 0; i < 16; i += 2) expect(steps[i]?.[1]).toBe(steps[i + 1]?.[1])
})

it('a number of a step that shares an item is taken', async () => {
  const key = await startedRun()
  await addSteps(work(), key, said('a', 'b', 'c'))
  for (const seq of [1, 2, 3])
    await expect(addSteps(work(), key, [{ ...said('again')[0], seq } as NewStep])).rejects.toMatchObject({
      code: 'step_write_conflict',
    })
  expect(await shown(key)).toHaveLength(3)
})

it('a number that was skipped is free for a step with that number, and no other step gets it', async () => {
  const key = await startedRun()
  await addSteps(work(), key, [{ ...said('ten')[0], seq: 10 } as NewStep])
  await addSteps(work(), key, said('eleven'))
  await addSteps(work(), key, [{ ...said('one')[0], seq: 1 } as NewStep])
  expect(await shown(key)).toEqual([
    [1, 'one'],
    [10, 'ten'],
    [11, 'eleven'],
  ])
})
