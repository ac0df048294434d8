import { describe, expect, it } from 'vitest'
import { EVENT_SOURCE } from '#infra/messaging.ts'
import { pascal } from '#infra/plan.ts'
import { OutboxEntity } from '#shared/entities/events.ts'
import { QUEUES } from '#shared/events/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { functionsOf, plans, registry, resources, synthesize } from './support.ts'

const { service, operations } = synthesize()
const queues = resources(service, 'AWS::SQS::Queue')
/** What brings a schedule's second round; nothing in there is worth keeping. */
const isOfRounds = (id: string) => /^Messaging\w+Again/.test(id)
const kept = queues.filter(([id]) => !isOfRounds(id))
const mappings = resources(service, 'AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => Properties)
const functions = functionsOf(service)
const text = JSON.stringify
const queueOf = (name: QueueName) => {
  const found = queues.find(
    ([id]) => id.startsWith(`Messaging${pascal(name)}`) && !id.startsWith(`Messaging${pascal(name)}Failed`),
  )
  if (found === undefined) throw new Error(`no queue ${name}`)
  return { id: found[0], ...found[1].Properties }
}
const names = Object.keys(QUEUES) as QueueName[]

describe('queues', () => {
  it.each(names)('%s keeps what fails too often as dead letters', (name) => {
    const queue = queueOf(name)
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(QUEUES[name].maxReceives)
    expect(text(queue.RedrivePolicy.deadLetterTargetArn)).toContain(`Messaging${pascal(name)}Failed`)
    expect(queue.VisibilityTimeout).toBe(QUEUES[name].visibilitySeconds)
  })

  it('keeps dead letters for 14 days', () => {
    for (const [, { Properties }] of kept.filter(([, queue]) => queue.Properties.RedrivePolicy === undefined)) {
      expect(Properties.MessageRetentionPeriod).toBe(14 * 86_400)
    }
  })

  it('has an alarm on every queue: on the age of messages, or on there being dead letters', () => {
    const alarms = text(
      resources(operations, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => [
        Properties.MetricName,
        Properties.Dimensions,
      ]),
    )
    for (const [id, { Properties }] of kept) {
      const metric =
        Properties.RedrivePolicy === undefined ? 'ApproximateNumberOfMessagesVisible' : 'ApproximateAgeOfOldestMessage'
      expect(alarms).toContain(text([metric, [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [id, 'QueueName'] } }]]))
    }
  })

  it.each(names)('%s is read by one function, with what the declaration says', (name) => {
    const worker = registry.workers.find(({ source }) => source.kind === 'queue' && source.queue === name)
    const [mapping, ...more] = mappings.filter((item) => text(item.EventSourceArn).includes(`"${queueOf(name).id}"`))
    expect(more).toEqual([])
    expect(text(mapping?.FunctionName)).toContain(`${functions.get(worker?.name ?? '')?.id}Live`)
    expect(mapping?.FunctionResponseTypes).toEqual(['ReportBatchItemFailures'])
    expect(mapping?.BatchSize).toBe(QUEUES[name].batchSize)
    expect(mapping?.MaximumBatchingWindowInSeconds).toBe(QUEUES[name].windowSeconds)
    expect(mapping?.ScalingConfig).toEqual({ MaximumConcurrency: QUEUES[name].maxConcurrency })
  })

  const set = { queueConcurrency: '{"fanout":200}', statisticsDelaySeconds: '20' }

  it('gather a batch as long as a setting says: of more than 10 messages only with a window, as Lambda demands', () => {
    const windows = [service, synthesize(set).service].map((stack) =>
      resources(stack, 'AWS::Lambda::EventSourceMapping').flatMap(
        ([, { Properties }]) => Properties.MaximumBatchingWindowInSeconds ?? [],
      ),
    )
    expect(windows).toEqual([[5], [20]])
    for (const { batchSize, windowSeconds = 0 } of Object.values(QUEUES)) {
      expect(batchSize).toBeLessThanOrEqual(windowSeconds > 0 ? 10_000 : 10)
    }
  })

  it('are taken from by as many executions as a setting says', () => {
    const { service: raised } = synthesize(set)
    const ceilings = resources(raised, 'AWS::Lambda::EventSourceMapping')
      .filter(([id]) => !isOfRounds(id))
      .map(([, { Properties }]) => Properties.ScalingConfig?.MaximumConcurrency)
      .filter((ceiling) => ceiling !== undefined)
    const expected = Object.values({ ...QUEUES, fanout: { ...QUEUES.fanout, maxConcurrency: 200 } })
    expect(ceilings.toSorted()).toEqual(expected.map(({ maxConcurrency }) => maxConcurrency).toSorted())
  })

  it('has every event from the bus in its tenant’s message group', () => {
    const targets = resources(service, 'AWS::Events::Rule').flatMap(([, { Properties }]) => Properties.Targets)
    const intoQueues = targets.filter(({ Arn }) => names.some((name) => text(Arn).includes(`"${queueOf(name).id}"`)))
    expect(intoQueues).toHaveLength(names.filter((name) => QUEUES[name].fromBus).length)
    for (const { SqsParameters } of intoQueues) {
      expect(SqsParameters).toEqual({ MessageGroupId: '$.detail.workspace_id' })
    }
  })

  it('never hands a message out again while its function still works on it', () => {
    for (const { timeoutSeconds, worker } of plans) {
      if (worker?.source.kind === 'queue')
        expect(QUEUES[worker.source.queue].visibilitySeconds).toBeGreaterThanOrEqual(timeoutSeconds)
    }
    const [worker] = registry.workers.filter(({ source }) => source.kind === 'queue')
    const slow = {
      ...registry,
      workers: registry.workers.map((item) => (item === worker ? { ...item, timeoutSeconds: 600 } : item)),
    }
    expect(() => synthesize({}, { registry: slow })).toThrow(new RegExp(`${worker?.name}: runs up to 600 s`))
  })

  it('never hands a message out again while its batch is gathered: AWS advises the window and six times the timeout', () => {
    const longest = 20
    for (const { timeoutSeconds, worker } of plans) {
      const queue = worker?.source.kind === 'queue' && QUEUES[worker.source.queue]
      if (queue && queue.windowSeconds !== undefined) {
        expect(queue.visibilitySeconds).toBeGreaterThanOrEqual(6 * timeoutSeconds + longest)
      }
    }
    expect(() => synthesize({ statisticsDelaySeconds: longest + 1 })).toThrow(/statisticsDelaySeconds/)
    const short = { ...QUEUES, statistics: { ...QUEUES.statistics, visibilitySeconds: 34 } }
    expect(() => synthesize({}, { queues: short })).toThrow(
      /statistics: runs up to 30 s after 5 s of gathering, but statistics hands a message out again after 34 s/,
    )
  })

  it('lets Lambda go on where a function sends to the queue that it reads', () => {
    for (const { name, worker, capabilities } of plans) {
      const loops = worker?.source.kind === 'queue' && capabilities.includes(`queue:${worker.source.queue}`)
      expect(functions.get(name)?.Properties.RecursiveLoop).toBe(loops ? 'Allow' : undefined)
    }
  })
})

describe('events', () => {
  const rules = resources(service, 'AWS::Events::Rule').map(([, { Properties }]) => Properties)

  it.each(names.filter((name) => QUEUES[name].fromBus !== undefined))(
    'come to %s by a rule that loses none',
    (name) => {
      const [rule, ...more] = rules.filter((item) => text(item.Targets).includes(`"${queueOf(name).id}"`))
      expect(more).toEqual([])
      expect(rule?.EventPattern.source).toEqual([EVENT_SOURCE])
      const types = QUEUES[name].fromBus ?? []
      expect(rule?.EventPattern['detail-type']).toEqual(types.includes('*') ? undefined : types)
      expect(rule?.Targets[0].DeadLetterConfig.Arn).toBeDefined()
    },
  )

  it('leave the table by the relay: only new outbox items wake it', () => {
    const mapping = mappings.find((item) => item.FilterCriteria !== undefined)
    const relay = registry.workers.find(({ source }) => source.kind === 'stream')
    expect(text(mapping.FunctionName)).toContain(`${functions.get(relay?.name ?? '')?.id}Live`)
    expect(mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))).toEqual([
      { eventName: ['INSERT'], dynamodb: { NewImage: { _e: { S: [OutboxEntity.name] } } } },
    ])
  })

  it('that cannot be relayed are split from their batch, tried again for a bounded time, and kept', () => {
    const mapping = mappings.find((item) => item.FilterCriteria !== undefined)
    expect(mapping).toMatchObject({
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MaximumRetryAttempts: 20,
      MaximumRecordAgeInSeconds: 3600,
    })
    expect(text(mapping.DestinationConfig.OnFailure)).toContain('MessagingUnrelayed')
  })

  it('that are due are looked for every half a minute, and an alarm tells if they are not', () => {
    const sweep = registry.workers.find(({ name }) => name === 'overdue-sweep')
    const [id, later] = queues.find(([id]) => id.startsWith('MessagingOverdueSweepAgain')) ?? []
    expect(later?.Properties).toMatchObject({
      DelaySeconds: 30,
      MessageRetentionPeriod: 60,
      VisibilityTimeout: sweep?.timeoutSeconds,
    })
    const rule = rules.find(({ ScheduleExpression }) => ScheduleExpression === 'rate(1 minute)')
    const [first, second, ...more] = rule?.Targets ?? []
    expect(more).toEqual([])
    expect(text(first.Arn)).toContain(`${functions.get('overdue-sweep')?.id}Live`)
    expect(second.Arn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] })
    const mapping = mappings.find(({ EventSourceArn }) => text(EventSourceArn).includes(`"${id}"`))
    expect(text(mapping.FunctionName)).toContain(`${functions.get('overdue-sweep')?.id}Live`)
    const alarms = resources(operations, 'AWS::CloudWatch::Alarm').filter(([id]) => id.includes('OverdueSweepMissing'))
    // Ten rounds in five minutes; those of the rule alone are five, or six.
    expect(alarms[0]?.[1].Properties).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 7,
      Period: 300,
      // The newest minutes are measured late.
      DatapointsToAlarm: 2,
      EvaluationPeriods: 2,
      TreatMissingData: 'breaching',
    })
  })
})
