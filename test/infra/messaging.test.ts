import { describe, expect, it } from 'vitest'
import { EVENT_SOURCE } from '#infra/messaging.ts'
import { pascal } from '#infra/plan.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { QUEUES } from '#shared/foundation/queues/queues.ts'
import type { Worker } from '#shared/http/worker.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { AuditIntakeEntity } from '#shared/staff/audit/entity.ts'
import { functionsOf, plans, registry, resources, synthesize, workers } from './support.ts'

const { service, operations } = synthesize()
const queues = resources(service, 'AWS::SQS::Queue')
/** Queues that delay a schedule's second run; their messages aren't worth keeping. */
const isOfRounds = (id: string) => /^Messaging\w+Again/.test(id)
const kept = queues.filter(([id]) => !isOfRounds(id))
const mappings = resources(service, 'AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => Properties)
const functions = functionsOf(service)
const text = JSON.stringify
const queueOf = (name: QueueName) => {
  const found = queues.find(([id]) => new RegExp(`^Messaging${pascal(name)}[0-9A-F]{8}$`).test(id))
  if (found === undefined) throw new Error(`no queue ${name}`)
  return { id: found[0], ...found[1].Properties }
}
const names = Object.keys(QUEUES) as QueueName[]
const readsFrom = (source: Worker['source'], name: QueueName) => source.kind === 'queue' && source.queue === name

describe('queues', () => {
  it.each(names)('%s moves messages that fail too often to dead letters', (name) => {
    const queue = queueOf(name)
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(QUEUES[name].maxReceives)
    expect(text(queue.RedrivePolicy.deadLetterTargetArn)).toMatch(/MessagingFailed[0-9A-F]{8}/)
    expect(queue.VisibilityTimeout).toBe(QUEUES[name].visibilitySeconds)
  })

  it('keep dead letters for 14 days', () => {
    for (const [, { Properties }] of kept.filter(([, queue]) => queue.Properties.RedrivePolicy === undefined)) {
      expect(Properties.MessageRetentionPeriod).toBe(14 * 86_400)
    }
  })

  it('each have an alarm on the age of messages or on the presence of dead letters', () => {
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

  it.each(names)('%s is read by one function, with the declared settings', (name) => {
    const plan = plans.find(({ workers: own }) => own.some(({ source }) => readsFrom(source, name)))
    const [mapping, ...more] = mappings.filter((item) => text(item.EventSourceArn).includes(`"${queueOf(name).id}"`))
    expect(more).toEqual([])
    expect(text(mapping?.FunctionName)).toContain(`${functions.get(plan?.name ?? '')?.id}Live`)
    expect(mapping?.FunctionResponseTypes).toEqual(['ReportBatchItemFailures'])
    expect(mapping?.BatchSize).toBe(QUEUES[name].batchSize)
    expect(mapping?.MaximumBatchingWindowInSeconds).toBe(QUEUES[name].windowSeconds)
    expect(mapping?.ScalingConfig).toEqual({ MaximumConcurrency: QUEUES[name].maxConcurrency })
  })

  const set = { queueConcurrency: '{"fanout":200}', statisticsDelaySeconds: '20' }

  it('gather batches for the time of a setting, with more than 10 messages only with a window, as Lambda demands', () => {
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

  it('are read by as many concurrent executions as a setting says', () => {
    const { service: raised } = synthesize(set)
    const ceilings = resources(raised, 'AWS::Lambda::EventSourceMapping')
      .filter(([id]) => !isOfRounds(id))
      .map(([, { Properties }]) => Properties.ScalingConfig?.MaximumConcurrency)
      .filter((ceiling) => ceiling !== undefined)
    const expected = Object.values({ ...QUEUES, fanout: { ...QUEUES.fanout, maxConcurrency: 200 } })
    expect(ceilings.toSorted()).toEqual(expected.map(({ maxConcurrency }) => maxConcurrency).toSorted())
  })

  it('get every event from the bus in its tenant’s message group', () => {
    const targets = resources(service, 'AWS::Events::Rule').flatMap(([, { Properties }]) => Properties.Targets)
    const intoQueues = targets.filter(({ Arn }) => names.some((name) => text(Arn).includes(`"${queueOf(name).id}"`)))
    expect(intoQueues).toHaveLength(names.filter((name) => QUEUES[name].fromBus).length)
    for (const { SqsParameters } of intoQueues) {
      expect(SqsParameters).toEqual({ MessageGroupId: '$.detail.workspace_id' })
    }
  })

  it('never redeliver a message while its function still works on it', () => {
    for (const { timeoutSeconds, workers: own } of plans) {
      for (const { source } of own)
        if (source.kind === 'queue')
          expect(QUEUES[source.queue].visibilitySeconds).toBeGreaterThanOrEqual(timeoutSeconds)
    }
    const { delivery = [] } = registry.workerFunctions
    const slow = {
      ...registry,
      workerFunctions: {
        ...registry.workerFunctions,
        delivery: delivery.map((item) => ({ ...item, timeoutSeconds: 600 })),
      },
    }
    expect(() => synthesize({}, { registry: slow })).toThrow(/delivery: runs up to 600 s/)
  })

  it('never redeliver a message while its batch is gathered: AWS advises the window and six times the timeout', () => {
    const longest = 20
    for (const { timeoutSeconds, source } of workers) {
      const queue = source.kind === 'queue' && QUEUES[source.queue]
      if (queue && queue.windowSeconds !== undefined) {
        expect(queue.visibilitySeconds).toBeGreaterThanOrEqual(6 * timeoutSeconds + longest)
      }
    }
    expect(() => synthesize({ statisticsDelaySeconds: longest + 1 })).toThrow(/statisticsDelaySeconds/)
    const short = { ...QUEUES, statistics: { ...QUEUES.statistics, visibilitySeconds: 34 } }
    expect(() => synthesize({}, { queues: short })).toThrow(
      /statistics: runs up to 30 s after 5 s of gathering, but statistics redelivers a message after 34 s/,
    )
  })

  it('let Lambda continue where a function sends to the queue that it reads', () => {
    for (const { name, workers: own, capabilities } of plans) {
      const loops = own.some(({ source }) => source.kind === 'queue' && capabilities.includes(`queue:${source.queue}`))
      expect(functions.get(name)?.Properties.RecursiveLoop).toBe(loops ? 'Allow' : undefined)
    }
  })
})

/** Returns the mapping that brings the table's stream to a function. */
const ofStream = (name: string) =>
  mappings.find((item) => item.FilterCriteria && text(item.FunctionName).includes(`"${functions.get(name)?.id}Live`))

describe('events', () => {
  const rules = resources(service, 'AWS::Events::Rule').map(([, { Properties }]) => Properties)

  it.each(names.filter((name) => QUEUES[name].fromBus !== undefined))('reach %s by a rule that loses none', (name) => {
    const [rule, ...more] = rules.filter((item) => text(item.Targets).includes(`"${queueOf(name).id}"`))
    expect(more).toEqual([])
    expect(rule?.EventPattern.source).toEqual([EVENT_SOURCE])
    const types = QUEUES[name].fromBus ?? []
    expect(rule?.EventPattern['detail-type']).toEqual(types.includes('*') ? undefined : types)
    expect(rule?.Targets[0].DeadLetterConfig.Arn).toBeDefined()
  })

  it('leave the table through the relay, which only new outbox items wake that no worker carries', () => {
    const mapping = ofStream('relay')
    const relay = workers.find(({ name }) => name === 'relay')
    expect(text(mapping.FunctionName)).toContain(`${functions.get(relay?.name ?? '')?.id}Live`)
    expect(mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))).toEqual([
      {
        eventName: ['INSERT'],
        dynamodb: { NewImage: { _e: { S: [OutboxEntity.name] }, carried: { BOOL: [{ exists: false }] } } },
      },
    ])
  })

  it('and audit entries through the recorder, in order, whose failures are found in the table', () => {
    const mapping = ofStream('audit')
    expect(mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))).toEqual([
      { eventName: ['INSERT'], dynamodb: { NewImage: { _e: { S: [AuditIntakeEntity.name] } } } },
    ])
    expect(mapping).toMatchObject({ ParallelizationFactor: 1, BisectBatchOnFunctionError: true })
    expect(mapping.DestinationConfig).toBeUndefined()
  })

  it('that can’t be relayed are split from their batch, retried for a bounded time, and kept', () => {
    const mapping = ofStream('relay')
    expect(mapping).toMatchObject({
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MaximumRetryAttempts: 20,
      MaximumRecordAgeInSeconds: 3600,
    })
    expect(text(mapping.DestinationConfig.OnFailure)).toContain('MessagingUnrelayed')
  })

  it('that are due are swept every half minute, and an alarm starts if they aren’t', () => {
    const sweep = workers.find(({ name }) => name === 'sweeper')
    const [id, later] = queues.find(([id]) => id.startsWith('MessagingSweeperAgain')) ?? []
    expect(later?.Properties).toMatchObject({
      DelaySeconds: 30,
      MessageRetentionPeriod: 60,
      VisibilityTimeout: sweep?.timeoutSeconds,
    })
    const rule = rules.find(({ ScheduleExpression }) => ScheduleExpression === 'rate(1 minute)')
    const [first, second, ...more] = rule?.Targets ?? []
    expect(more).toEqual([])
    expect(text(first.Arn)).toContain(`${functions.get('sweeper')?.id}Live`)
    expect(second.Arn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] })
    const mapping = mappings.find(({ EventSourceArn }) => text(EventSourceArn).includes(`"${id}"`))
    expect(text(mapping.FunctionName)).toContain(`${functions.get('sweeper')?.id}Live`)
    const alarms = resources(operations, 'AWS::CloudWatch::Alarm').filter(([id]) => id.includes('SweeperMissing'))
    // Ten runs in five minutes. Without the delayed ones there are only five or six.
    expect(alarms[0]?.[1].Properties).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 7,
      Period: 300,
      // The metrics of the newest minutes arrive late.
      DatapointsToAlarm: 2,
      EvaluationPeriods: 2,
      TreatMissingData: 'breaching',
    })
  })
})
