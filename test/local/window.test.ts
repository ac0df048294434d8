import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createQueue } from '#local/aws/sqs/queue.ts'
import type { Functions } from '#local/functions.ts'
import { NO_JUMPS } from '#local/jumps.ts'
import { startQueueSource } from '#local/sources/queue.ts'
import { queueModel } from '#testkit/services.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const WINDOW_MS = 5_000
const BATCH = 25

/** Starts a queue with a batching window, and records the number of messages of each invocation. */
const gathering = () => {
  const store = { load: () => [], save: () => undefined, remove: () => undefined }
  const queue = createQueue(queueModel('q'), {
    store,
    now: () => Date.now(),
    byArn: () => undefined,
    jumps: NO_JUMPS,
    onError: (error) => expect.unreachable(String(error)),
  })
  const batches: number[] = []
  const functions = {
    find: () => undefined,
    warm: async () => undefined,
    invoke: async (_: string, event: { Records: unknown[] }) => {
      batches.push(event.Records.length)
      return { kind: 'value', value: { batchItemFailures: [] }, bytes: 2 }
    },
  } as unknown as Functions
  const model = {
    kind: 'queue',
    id: 'm',
    functionArn: 'f',
    queueArn: queue.model.arn,
    batchSize: BATCH,
    windowMs: WINDOW_MS,
    maxConcurrency: 2,
    reportItemFailures: true,
  } as const
  const source = startQueueSource(model, queue, {
    functions,
    disk: { writable: async () => {} },
    onError: (error) => expect.unreachable(String(error)),
  })
  const send = (count: number) => {
    for (let i = 0; i < count; i++) queue.send({ body: '{}' })
  }
  const stop = async () => {
    queue.stop()
    await source.stop()
  }
  return { send, batches, stop }
}

test('a window gathers messages until it ends, across several receives', async () => {
  const { send, batches, stop } = gathering()
  send(14)
  await vi.advanceTimersByTimeAsync(WINDOW_MS - 1_000)
  send(4)
  await vi.advanceTimersByTimeAsync(900)
  expect(batches).toEqual([])
  await vi.advanceTimersByTimeAsync(200)
  expect(batches).toEqual([18])
  await stop()
})

test('a full batch is sent at once, and the next window begins with the next message', async () => {
  const { send, batches, stop } = gathering()
  send(BATCH + 3)
  await vi.advanceTimersByTimeAsync(100)
  expect(batches).toEqual([BATCH])
  await vi.advanceTimersByTimeAsync(WINDOW_MS)
  expect(batches).toEqual([BATCH, 3])
  await stop()
})
