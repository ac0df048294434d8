import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createQueue } from '#local/aws/sqs/queue.ts'
import { NO_JUMPS } from '#local/jumps.ts'
import { queueModel } from '#testkit/services.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a timer that fires before the clock reaches its time loses no message', async () => {
  let now = 0
  const store = { load: () => [], save: () => undefined, remove: () => undefined }
  const queue = createQueue(queueModel('q'), {
    store,
    now: () => now,
    byArn: () => undefined,
    jumps: NO_JUMPS,
    onError: (error) => expect.unreachable(String(error)),
  })
  queue.send({ body: 'late', delaySeconds: 1 })
  const received = vi.fn()
  void queue.receive({ max: 1, waitMs: 20_000 }).then(received)
  now = 999
  await vi.advanceTimersByTimeAsync(1_000)
  expect(received).not.toHaveBeenCalled()
  now = 1_000
  await vi.advanceTimersByTimeAsync(5)
  expect(received).toHaveBeenCalledWith([expect.objectContaining({ body: 'late' })])
  queue.stop()
})
