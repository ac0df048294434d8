import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { worker } from '#functions/workers/relay.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/entity.ts'
import { newEvent } from '#shared/foundation/outbox/outbox.ts'
import type { WorkerWork } from '#shared/foundation/work/work.ts'
import type { EventBus } from '#shared/kernel/ports/bus.ts'
import { TestClock } from '#testkit/clock.ts'

const clock = new TestClock()

const event = (i: number, data: Record<string, unknown> = { i }): OutboxEvent =>
  newEvent(clock, { type: 'custom.a', workspace_id: 'ws_1', installation_id: 'ins_1', app_id: 'app_1', data })

/** Stream records as Lambda gets them: the item with its keys and bookkeeping, in the wire format. */
const records = (events: unknown[]) =>
  events.map((item, i) => ({
    eventName: 'INSERT' as const,
    dynamodb: {
      SequenceNumber: String(1_000 + i),
      NewImage: marshall(
        { pk: 'EVT#x', sk: 'EVT', _e: 'outbox', ttl: 1, duepk: 'DUE#1', duesk: '1#outbox', ...(item as object) },
        { removeUndefinedValues: true },
      ) as never,
    },
  }))

const relay = async (
  events: unknown[],
  put: EventBus<OutboxEvent>['put'] = async (some) => ({ taken: some.length }),
) => {
  const sent: OutboxEvent[] = []
  const bus: EventBus<OutboxEvent> = {
    put: (some) => {
      sent.push(...some)
      return put(some)
    },
  }
  const log = { error: () => {} }
  const failed = await worker.handle({ bus, log } as unknown as WorkerWork, records(events))
  return { failed, sent }
}

describe('the stream relay', () => {
  it('puts events on the bus unchanged and in order', async () => {
    const events = Array.from({ length: 23 }, (_, i) => event(i))
    const { failed, sent } = await relay(events)
    expect(failed).toEqual([])
    expect(sent).toEqual(events)
  })

  it('reports the first event that the bus refused, so that it and all after it are redelivered', async () => {
    const events = Array.from({ length: 20 }, (_, i) => event(i))
    const { failed } = await relay(events, async () => ({ taken: 13, error: new Error('unavailable') }))
    expect(failed).toEqual(['1013'])
  })

  it('leaves carried events to their carrier where the source can’t, and still reports the right record', async () => {
    const carried = (i: number) => ({ ...event(i), carried: true })
    const events = [carried(0), event(1), carried(2), event(3), event(4)]
    const { failed, sent } = await relay(events, async () => ({ taken: 1, error: new Error('unavailable') }))
    expect(sent).toEqual([events[1], events[3], events[4]])
    expect(failed).toEqual(['1003'])
  })

  it('relays events before an invalid record, and reports that record', async () => {
    const { failed, sent } = await relay([event(0), event(1), { id: 7 }, event(3)])
    expect(sent).toHaveLength(2)
    expect(failed).toEqual(['1002'])
  })
})
