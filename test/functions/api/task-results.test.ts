import { beforeEach, describe, expect, it } from 'vitest'
import { SeedEntity } from '#shared/agents/sandbox/entity.ts'
import { removeSeeded } from '#shared/agents/sandbox/seed/remove.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { LooseResultEntity, TaskEntity } from '#shared/work/tasks/entity.ts'
import { killAfter } from '#testkit/faults.ts'
import { member } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { tasksOf } from './tasks-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(3_600_000)
  agent.answer({ kind: 'answer', status: 202 })
})

const large = (letter: string) => ({ rows: letter.repeat(20_000) })

/** Creates a task with a report, and functions that read its stored data. */
const reported = async () => {
  const of = await tasksOf(platform, agent)
  const { id } = await of.task()
  return {
    ...of,
    id,
    report: (output?: object) => of.asAgent('POST', `/${id}/report`, { text: 'Counted.', output }),
    objects: () => [...platform.objects.keys()].filter((key) => key.includes(id)),
    marks: async () =>
      (await platform.deps.table.query(LooseResultEntity, { workspace_id: of.workspaceId }, { limit: 10 })).items,
    /** Reads the output with a new session, since earlier ones have expired. */
    output: async () => {
      const { token } = await member(platform.deps, of.workspaceId, 'member')
      return (await platform.call('GET', `/console/tasks/${id}`, { token })).body.result?.output
    },
  }
}

const sweepAfter = async (ms: number) => {
  platform.clock.advance(ms)
  await platform.sweep()
}

/** Deletes payloads as the bucket's expiration rule does. */
const expirePayloads = () => {
  for (const key of platform.objects.keys()) if (key.startsWith('payloads/')) platform.objects.delete(key)
}

describe('a task’s large result', () => {
  it('can be read long after the payloads of runs have expired', async () => {
    const { report, output, marks } = await reported()
    expect((await report(large('a'))).status).toBe(200)
    expect(await marks()).toEqual([])
    await sweepAfter(400 * DAY)
    expirePayloads()
    expect(await output()).toEqual(large('a'))
  })

  it('is read from the payloads when it was stored there', async () => {
    const { id, workspaceId, output } = await reported()
    const object = `payloads/tasks/${id}/msg_1/output`
    platform.objects.set(object, Buffer.from(JSON.stringify(large('a'))))
    const result = { text: 'Counted.', at: platform.clock.now(), output: { object, bytes: 20_011 } }
    await platform.deps.table.transact([TaskEntity.update({ workspace_id: workspaceId, id }, { set: { result } })])
    expect(await output()).toEqual(large('a'))
  })

  it('is deleted after a later report, but not while recent readers may still load it', async () => {
    const { report, output, objects, marks } = await reported()
    await report(large('a'))
    const [first] = objects()
    await report(large('b'))
    await platform.sweep()
    expect(objects()).toContain(first)
    await sweepAfter(MINUTE)
    expect(objects()).toHaveLength(1)
    expect(await output()).toEqual(large('b'))
    await report({ pieces: 1 })
    await sweepAfter(MINUTE)
    expect([objects(), await marks()]).toEqual([[], []])
  })

  it('is deleted with a seeded task', async () => {
    const { id, report, objects, workspaceId: workspace_id } = await reported()
    await report(large('a'))
    const seed = {
      workspace_id,
      ...stampOf(newId('audit', platform.clock.now())),
      task_ids: [id],
      runs: [],
      notification_ids: [],
      conversation_ids: [],
      file_ids: [],
      folder_ids: [],
    }
    await platform.deps.table.transact([SeedEntity.create(seed)])
    const { table } = platform.deps
    const commit = (writes: Parameters<typeof table.transact>[0]) => table.transact(writes)
    await removeSeeded({ ...createWorkerWork(platform.deps), commit }, workspace_id)
    expect(await table.get(TaskEntity, { workspace_id, id })).toBeUndefined()
    await sweepAfter(MINUTE)
    expect(objects()).toEqual([])
  })

  it('belongs to the task or is deleted, wherever its report crashed', async () => {
    for (let n = 1; ; n++) {
      const { report, output, objects, marks } = await reported()
      await report(large('a'))
      const death = killAfter(platform, n)
      await report(large('b'))
      const died = death.restore()
      await sweepAfter(2 * DAY)
      expect([large('a'), large('b')]).toContainEqual(await output())
      expect(objects(), `died after ${n}`).toHaveLength(1)
      expect(await marks()).toEqual([])
      if (!died) {
        expect(n).toBeGreaterThan(2)
        return
      }
    }
  })
})
