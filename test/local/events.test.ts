import { PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AwsError } from '#local/aws/error.ts'
import type { AwsCall } from '#local/aws/server.ts'
import type { RuleTarget } from '#local/template.ts'
import { queueModel, startServices } from '#testkit/services.ts'
import { temporaryFolder } from './support.ts'

const [runs, all, dead] = [queueModel('runs'), queueModel('all'), queueModel('dead')]
const rule = (name: string, pattern: object, ...targets: RuleTarget[]) => ({ name, bus: 'bus', pattern, targets })
const secret = {
  name: 'keys',
  arn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:keys-abc123',
  value: undefined,
  generate: {
    SecretStringTemplate: '{"current":"k1"}',
    GenerateStringKey: 'k1',
    PasswordLength: 64,
    ExcludePunctuation: true,
  },
}

let place: ReturnType<typeof temporaryFolder>
let services: Awaited<ReturnType<typeof startServices>>
const open = async () => {
  services = await startServices({
    dataDir: place.folder,
    queues: [runs, all, dead],
    secrets: [secret],
    rules: [
      rule(
        'runs',
        { 'detail-type': [{ prefix: 'run.' }] },
        { arn: runs.arn, inputPath: '$.detail', messageGroupId: 'g' },
      ),
      rule('all', { source: ['platform'] }, { arn: all.arn, messageGroupId: '$.detail.workspace_id' }),
      rule('gone', { source: ['lost'] }, { arn: 'arn:aws:sqs:us-east-1:000000000000:nobody', deadLetterArn: dead.arn }),
    ],
  })
}
beforeEach(async () => {
  place = temporaryFolder()
  await open()
})
afterEach(async () => {
  await services.stop()
  place.remove()
})

const entry = (given: object = {}) => ({
  Source: 'platform',
  DetailType: 'run.created',
  Detail: '{"id":"evt_1"}',
  EventBusName: 'bus',
  ...given,
})
const put = (...Entries: object[]) => services.events.send(new PutEventsCommand({ Entries }))
const received = async (queue: string) => {
  const input = {
    QueueUrl: services.urlOf(queue),
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All' as const],
  }
  return (await services.sqs.send(new ReceiveMessageCommand(input))).Messages ?? []
}

describe('PutEvents', () => {
  test('reaches the queue of every matching rule, and no other', async () => {
    const { Entries } = await put(entry(), entry({ DetailType: 'task.created' }))
    expect((await received('runs')).map(({ Body }) => Body)).toEqual(['{"id":"evt_1"}'])
    const events = (await received('all')).map(({ Body }) => JSON.parse(Body ?? ''))
    expect(events).toMatchObject([
      {
        id: Entries?.[0]?.EventId,
        'detail-type': 'run.created',
        source: 'platform',
        version: '0',
        detail: { id: 'evt_1' },
      },
      { id: Entries?.[1]?.EventId, 'detail-type': 'task.created' },
    ])
    expect(events[0].time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  })

  test('sets the message group of the target', async () => {
    await put(entry())
    expect((await received('runs'))[0]?.Attributes?.MessageGroupId).toBe('g')
  })

  test('takes the message group from the event where the target has a path for it', async () => {
    await put(entry({ Detail: '{"workspace_id":"ws_1"}' }), entry({ Detail: '{"workspace_id":"ws_2"}' }), entry())
    const groups = (await received('all')).map(({ Attributes }) => Attributes?.MessageGroupId)
    expect(groups.toSorted()).toEqual(['ws_1', 'ws_2', undefined])
  })

  test('accepts an event for another bus or without a matching rule, which goes nowhere', async () => {
    const answer = await put(entry({ EventBusName: 'default' }), entry({ EventBusName: 'unknown' }))
    expect(answer.FailedEntryCount).toBe(0)
    expect(await received('all')).toEqual([])
  })

  test('sends an undeliverable event to the dead-letter queue of its target', async () => {
    await put(entry({ Source: 'lost' }))
    expect(await received('dead')).toHaveLength(1)
  })

  test.each([
    [{ Detail: 'no json' }, 'MalformedDetail'],
    [{ Detail: '[1]' }, 'MalformedDetail'],
    [{ Source: undefined }, 'InvalidArgument'],
    [{ DetailType: undefined }, 'InvalidArgument'],
  ])('%j fails only its entry', async (wrong, ErrorCode) => {
    const answer = await put(entry(wrong), entry())
    expect(answer).toMatchObject({ FailedEntryCount: 1, Entries: [{ ErrorCode }, { EventId: expect.any(String) }] })
    expect(await received('runs')).toHaveLength(1)
  })

  test('refuses the whole request over 256 KB in total or over ten entries', async () => {
    const half = entry({ Detail: JSON.stringify({ x: 'y'.repeat(131_072) }) })
    expect((await put(half)).FailedEntryCount).toBe(0)
    const refused = { name: 'ValidationException', message: expect.stringContaining('over the limit') }
    await expect(put(half, half)).rejects.toMatchObject(refused)
    await expect(put(...Array.from({ length: 11 }, () => entry()))).rejects.toMatchObject({
      name: 'ValidationException',
    })
    expect(await received('runs')).toHaveLength(1)
  })
})

describe('secrets', () => {
  const read = async (SecretId: string) => {
    const { SecretString } = await services.secrets.send(new GetSecretValueCommand({ SecretId }))
    return JSON.parse(SecretString ?? '')
  }

  test('are generated as the template says, and persist over a restart', async () => {
    const value = await read(secret.arn)
    expect(value).toEqual({ current: 'k1', k1: expect.stringMatching(/^[A-Za-z0-9]{64}$/) })
    await services.stop()
    await open()
    expect(await read('keys')).toEqual(value)
  })

  test('can be rotated', async () => {
    const SecretString = '{"current":"k2","k1":"a","k2":"b"}'
    await services.secrets.send(new PutSecretValueCommand({ SecretId: 'keys', SecretString }))
    expect(await read('keys')).toEqual(JSON.parse(SecretString))
  })

  test('that don’t exist cause their own error', async () => {
    await expect(read('nobody')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })
})

describe('a hook', () => {
  test('sees each call before and after, and its caller', async () => {
    const calls: AwsCall[] = []
    services.onAwsCall((call) => void calls.push(call))
    await put(entry())
    expect(calls.map(({ service, operation, phase }) => [service, operation, phase])).toEqual([
      ['events', 'PutEvents', 'before'],
      ['events', 'PutEvents', 'after'],
    ])
  })

  test('may refuse a call before it is executed, or lose the answer after', async () => {
    const failAt = (at: AwsCall['phase']) =>
      services.onAwsCall(({ phase, service }) => {
        if (phase === at && service === 'events') throw new AwsError('InternalException', 'on purpose', 500)
      })
    failAt('before')
    await expect(put(entry())).rejects.toMatchObject({ name: 'InternalException' })
    expect(await received('runs')).toEqual([])
    failAt('after')
    await expect(put(entry())).rejects.toMatchObject({ name: 'InternalException' })
    expect(await received('runs')).toHaveLength(1)
  })
})
