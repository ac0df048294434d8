import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createQueue } from '#local/aws/sqs/queue.ts'
import type { Sqs } from '#local/aws/sqs.ts'
import type { Functions } from '#local/functions.ts'
import { NO_JUMPS } from '#local/jumps.ts'
import { startSchedule } from '#local/sources/schedule.ts'
import { queueModel } from '#testkit/services.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const SWEEP = 'arn:aws:lambda:us-east-1:000000000000:function:sweep'

/** Starts a schedule that sends to a queue every minute. The queue delays messages by 30 seconds. */
const delayed = () => {
  const store = { load: () => [], save: () => undefined, remove: () => undefined }
  const model = queueModel('later', { delaySeconds: 30 })
  const queue = createQueue(model, {
    store,
    now: () => Date.now(),
    byArn: () => undefined,
    jumps: NO_JUMPS,
    onError: (error) => expect.unreachable(String(error)),
  })
  const source = startSchedule(
    { name: 'each-minute', everyMs: 60_000, targetArn: model.arn, input: undefined },
    {
      model: { queueSources: [{ queueArn: model.arn, functionArn: SWEEP }] } as never,
      functions: { find: (arn: string) => (arn === SWEEP ? { name: 'sweep' } : undefined) } as unknown as Functions,
      sqs: { byArn: (arn: string) => (arn === model.arn ? queue : undefined) } as unknown as Sqs,
      jumps: NO_JUMPS,
      onError: (error) => expect.unreachable(String(error)),
    },
  )
  const stop = async () => {
    queue.stop()
    await source.stop()
  }
  return { queue, source, stop }
}

test('a schedule that targets a queue sends it the event of EventBridge, which the queue delays', async () => {
  const { queue, source, stop } = delayed()
  expect(source.functionName).toBe('sweep')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(queue.counts()).toMatchObject({ visible: 0, delayed: 1 })
  await vi.advanceTimersByTimeAsync(30_000)
  const [message] = await queue.receive({ max: 10 })
  expect(JSON.parse(message?.body ?? '')).toMatchObject({ source: 'aws.events', 'detail-type': 'Scheduled Event' })
  await stop()
})

test('a paused schedule sends nothing', async () => {
  const { queue, source, stop } = delayed()
  source.pause()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(queue.counts()).toMatchObject({ visible: 0, delayed: 0 })
  await stop()
})
