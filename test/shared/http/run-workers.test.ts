import { describe, expect, it, vi } from 'vitest'
import { runWorkers, type Worker } from '#shared/http/worker.ts'

const QUEUES = {
  removals: 'https://sqs.eu-central-1.amazonaws.com/123456789012/Platform-dev-Removals-1',
  messenger: 'https://sqs.eu-central-1.amazonaws.com/123456789012/Platform-dev-Messenger-2',
}
const arn = (queue: keyof typeof QUEUES) => `arn:aws:sqs:eu-central-1:123456789012:${QUEUES[queue].split('/').at(-1)}`
const batch = (eventSourceARN: string) => ({ Records: [{ messageId: 'm1', body: '{}', eventSourceARN }] })
const deps = () =>
  ({ settings: { queueUrls: QUEUES }, clock: { now: () => 0 }, log: { error: () => {} } }) as unknown as ReturnType<
    Parameters<typeof runWorkers>[1]
  >

const setup = () => {
  const ran: string[] = []
  const queueWorker = (queue: keyof typeof QUEUES, handle = async () => void ran.push(queue)): Worker => ({
    name: queue,
    source: { kind: 'queue', queue },
    needs: [],
    timeoutSeconds: 40,
    handle,
  })
  const scheduled: Worker = {
    name: 'rounds',
    source: { kind: 'schedule', everyMinutes: 5 },
    needs: [],
    timeoutSeconds: 290,
    handle: async () => void ran.push('rounds'),
  }
  return { ran, queueWorker, scheduled }
}

describe('a function with several workers', () => {
  it('passes a batch to the worker of its queue, and a schedule’s event to the schedule’s worker', async () => {
    const { ran, queueWorker, scheduled } = setup()
    const handle = runWorkers([queueWorker('removals'), queueWorker('messenger'), scheduled], deps)
    expect(await handle(batch(arn('messenger')))).toEqual({ batchItemFailures: [] })
    expect(await handle(batch(arn('removals')))).toEqual({ batchItemFailures: [] })
    expect(await handle({ 'detail-type': 'Scheduled Event' })).toBeUndefined()
    expect(ran).toEqual(['messenger', 'removals', 'rounds'])
  })

  it('fails for a queue without a worker, and does nothing for an empty batch', async () => {
    const { ran, queueWorker, scheduled } = setup()
    const handle = runWorkers([queueWorker('removals'), scheduled], deps)
    await expect(handle(batch(arn('messenger')))).rejects.toThrow(/no worker of this function reads .*Messenger-2/)
    expect(await handle({ Records: [] })).toEqual({ batchItemFailures: [] })
    expect(ran).toEqual([])
  })

  it('fails a batch when its worker’s own timeout is over, whatever the others may take', async () => {
    vi.useFakeTimers()
    try {
      const { queueWorker, scheduled } = setup()
      const stuck = queueWorker('removals', () => new Promise(() => {}))
      const handled = runWorkers([stuck, scheduled], deps)(batch(arn('removals')))
      const failed = expect(handled).rejects.toThrow('removals ran longer than 40 s')
      await vi.advanceTimersByTimeAsync(40_000)
      await failed
    } finally {
      vi.useRealTimers()
    }
  })
})
