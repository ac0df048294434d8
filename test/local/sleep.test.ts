import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createQueue } from '#local/aws/sqs/queue.ts'
import type { Functions } from '#local/functions.ts'
import { watchJumps } from '#local/jumps.ts'
import { prepare } from '#local/prepare.ts'
import { startSchedule } from '#local/sources/schedule.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'
import { startReceiver, succeeds } from '#testkit/receiver.ts'
import { DEEP } from '#testkit/sampling.ts'
import { queueModel } from '#testkit/services.ts'
import { must, newAgent, sandboxToken } from '../e2e/support.ts'
import { below, killAll, npmStart } from './npm-start.ts'
import { temporaryFolder, until } from './support.ts'

describe('after a jump of the clock', () => {
  let now = 0
  beforeEach(() => {
    now = 0
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('a message in flight stays with its worker, which was stopped, too', async () => {
    const jumps = watchJumps(() => now)
    const store = { load: () => [], save: () => undefined, remove: () => undefined }
    const queue = createQueue(queueModel('q'), {
      store,
      now: () => now,
      byArn: () => undefined,
      onError: (error) => expect.unreachable(String(error)),
      jumps,
    })
    const { id } = queue.send({ body: 'work' })
    await queue.receive({ max: 1, visibilitySeconds: 30 })
    now += 3_600_000
    expect(await queue.receive({ max: 1 })).toEqual([])
    now += 4_000
    expect(await queue.receive({ max: 1 })).toEqual([])
    // Its worker has died.
    for (let second = 0; second < 30; second++) {
      now += 1_000
      jumps.look()
    }
    jumps.stop()
    expect(await queue.receive({ max: 1 })).toEqual([expect.objectContaining({ id })])
    queue.stop()
  })

  test('a schedule waits until what is in flight has had the time to end', async () => {
    let isCalm = Promise.withResolvers<void>()
    const invoke = vi.fn(async () => ({ kind: 'value', value: null, bytes: 4 }))
    const source = startSchedule(
      { name: 'each-minute', everyMs: 60_000, targetArn: 'sweep', input: undefined },
      {
        model: { queueSources: [] },
        functions: { find: () => ({ name: 'sweep' }), invoke } as unknown as Functions,
        sqs: { byArn: () => undefined } as never,
        jumps: { calm: () => isCalm.promise },
        onError: (error) => expect.unreachable(String(error)),
      },
    )
    await vi.advanceTimersByTimeAsync(60_000)
    expect(invoke).not.toHaveBeenCalled()
    isCalm.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(invoke).toHaveBeenCalledOnce()
    isCalm = Promise.withResolvers()
    await vi.advanceTimersByTimeAsync(60_000)
    await source.stop()
    isCalm.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(invoke).toHaveBeenCalledOnce()
  })

  test('it is calm again later than a request to an agent ends that was open, and at once without a jump', async () => {
    let monotonic = 0
    vi.spyOn(performance, 'now').mockImplementation(() => monotonic)
    const jumps = watchJumps(() => now)
    await jumps.calm()
    now += 3_600_000
    const calm = vi.fn()
    void jumps.calm().then(calm)
    monotonic += LIMITS.agentLifeSign
    await vi.advanceTimersByTimeAsync(LIMITS.agentLifeSign)
    expect(calm).not.toHaveBeenCalled()
    monotonic += 60_000
    jumps.stop()
    await vi.waitFor(() => expect(calm).toHaveBeenCalled())
    vi.restoreAllMocks()
  })
})

/** Longer than the platform waits for an agent, than a dispatcher may run, and than a silent agent is believed to be alive. */
const ASLEEP_MS = LIMITS.agentLifeSign + 5_000

// It stops the platform for longer than an agent has, so only the deep run waits for it.
test.runIf(DEEP)(
  'answers of agents that arrived while the machine slept are read before anything is called late',
  async () => {
    const place = temporaryFolder()
    const agent = await startReceiver()
    try {
      await (await prepare({ ...ASSEMBLY, together: true }))?.()
      const { pid, baseUrl } = await npmStart(['--port', '0'], { env: { DATA_DIR: place.folder } })
      const asleep = Promise.withResolvers<void>()
      agent.answer(async () => {
        await asleep.promise
        return succeeds()
      })
      const token = await sandboxToken(baseUrl, await newAgent(baseUrl, { endpoint: agent.url }))
      const runs = await Promise.all(
        ['a', 'b', 'c'].map((input) =>
          must(baseUrl, 'POST', '/api/v1/runs', { token, body: { input: { text: input } } }),
        ),
      )
      await agent.received(runs.length)
      const processes = below(pid)
      for (const each of processes) process.kill(each, 'SIGSTOP')
      asleep.resolve()
      await sleep(ASLEEP_MS)
      for (const each of processes) process.kill(each, 'SIGCONT')
      for (const { id } of runs) {
        const ended = await until(async () => {
          const run = await must(baseUrl, 'GET', `/api/v1/runs/${id}`, { token })
          return ['queued', 'running'].includes(run.status) ? undefined : run
        })
        expect(ended).toMatchObject({ status: 'succeeded' })
      }
    } finally {
      killAll()
      await agent.close()
      place.remove()
    }
  },
  180_000,
)
