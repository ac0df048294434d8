import { describe, expect, it, vi } from 'vitest'
import { createLogger } from '#shared/adapters/logger.ts'
import { type QueueWorker, runWorkers, type Worker } from '#shared/http/worker.ts'

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

  it('passes the second round of a schedule, which a queue brings, to the schedule’s worker', async () => {
    const { ran, queueWorker, scheduled } = setup()
    const twice = { ...scheduled, source: { kind: 'schedule', everyMinutes: 1, againAfterSeconds: 30 } } as Worker
    const handle = runWorkers([twice, queueWorker('removals')], deps)
    await handle(batch('arn:aws:sqs:eu-central-1:123456789012:Platform-dev-SweeperAgain-3'))
    await handle(batch(arn('removals')))
    expect(await handle({ Records: [] })).toEqual({ batchItemFailures: [] })
    expect(ran).toEqual(['rounds', 'removals'])
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

it('each line of a worker has the ids of its invocation, its trace and its message, and none of another message', async () => {
  const lines: Record<string, unknown>[] = []
  const made = { ...deps(), log: createLogger('info', (line) => lines.push(JSON.parse(line))) }
  const worker: QueueWorker = {
    name: 'removals',
    source: { kind: 'queue', queue: 'removals' },
    needs: [],
    timeoutSeconds: 40,
    handle: async ({ log }, message) => {
      log.info('begun', { of: (message as { of: string }).of })
      await Promise.resolve()
      log.info('ended', { of: (message as { of: string }).of })
    },
  }
  const messages = [{ of: 'a', run_id: 'run_a' }, { of: 'b', event_id: 'evt_b' }, { of: 'c' }]
  const Records = messages.map((body, i) => ({
    messageId: `m${i}`,
    body: JSON.stringify(body),
    eventSourceARN: arn('removals'),
  }))
  const environment = { _X_AMZN_TRACE_ID: 'Root=1-6a0b-0c;Parent=1;Sampled=1' }
  await runWorkers(
    [worker],
    () => made,
    () => environment,
  )({ Records }, { awsRequestId: 'lambda-1' } as never)
  expect(lines).toHaveLength(6)
  for (const { of, ...line } of lines) {
    expect(line).toMatchObject({
      lambda_request_id: 'lambda-1',
      xray_trace_id: '1-6a0b-0c',
      request_id: expect.any(String),
    })
    expect([line.run_id, line.event_id]).toEqual(
      { a: ['run_a', undefined], b: [undefined, 'evt_b'], c: [undefined, undefined] }[of as string],
    )
  }
  expect(new Set(lines.map(({ request_id }) => request_id)).size).toBe(3)
})
