import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import { createBus } from '#shared/adapters/bus.ts'

const eventbridge = mockClient(EventBridgeClient)
beforeEach(() => {
  eventbridge.reset()
  eventbridge.on(PutEventsCommand).callsFake(({ Entries }) => ({ Entries: Entries.map(() => ({ EventId: 'e' })) }))
})

const bus = createBus('bus')
const events = (n: number, data = '{}') =>
  Array.from({ length: n }, (_, i) => ({
    id: `evt_${i}`,
    type: 'run.created',
    created_at: 0,
    workspace_id: 'ws',
    data,
  }))
const sent = () => eventbridge.commandCalls(PutEventsCommand).map(({ args: [{ input }] }) => input.Entries ?? [])

test('an event becomes an entry with its type and the whole event as detail', async () => {
  const [event] = events(1)
  expect(await bus.put(events(1))).toEqual({ taken: 1 })
  expect(sent()).toEqual([
    [{ EventBusName: 'bus', Source: 'platform', DetailType: 'run.created', Detail: JSON.stringify(event) }],
  ])
})

test('requests stay within ten entries and 256 KB', async () => {
  await bus.put(events(25))
  expect(sent().map(({ length }) => length)).toEqual([10, 10, 5])
  eventbridge.resetHistory()
  await bus.put(events(5, 'x'.repeat(100_000)))
  expect(sent().map(({ length }) => length)).toEqual([2, 2, 1])
})

test('the first event that EventBridge refused, and all after it, must be put again', async () => {
  let request = 0
  eventbridge.on(PutEventsCommand).callsFake(({ Entries }) => {
    request++
    return {
      Entries: Entries.map((_: unknown, i: number) =>
        request === 2 && (i === 3 || i === 7) ? { ErrorCode: 'ThrottlingException' } : { EventId: 'e' },
      ),
    }
  })
  expect(await bus.put(events(30))).toEqual({ taken: 13, error: 'ThrottlingException' })
  expect(sent()).toHaveLength(2)
})

test('a failed request keeps the events put before it', async () => {
  let request = 0
  eventbridge.on(PutEventsCommand).callsFake(({ Entries }) => {
    if (request++ === 1) throw new Error('unavailable')
    return { Entries: Entries.map(() => ({ EventId: 'e' })) }
  })
  expect(await bus.put(events(20))).toEqual({ taken: 10, error: expect.objectContaining({ message: 'unavailable' }) })
})

test('a function without a bus puts nothing', async () => {
  await expect(createBus(undefined).put(events(1))).rejects.toThrow('may not publish events')
})
