import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pascal } from '#infra/plan.ts'
import { KINDS } from '#infra/watches/watch.ts'
import { parseQueues } from '#ops/redrive/queues.ts'
import { CALLEE_KINDS } from '#shared/kernel/metrics.ts'
import { QUEUE_NAMES } from '#shared/kernel/queue-names.ts'
import { functionsOf, plans, type Resource, resources, statementsOf, synthesize, workers } from './support.ts'

const { service, operations } = synthesize()
const alarms = resources(operations, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({
  id: /^Alarms(\w+)[0-9A-F]{8}$/.exec(id)?.[1] ?? id,
  logicalId: id,
  ...Properties,
}))
const ids = alarms.map(({ id }) => id)
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8')
const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title]) => title)

describe('alarms', () => {
  it('watch every function, queue, dead-letter queue, rule, stream, schedule, called service, the table and the API', () => {
    const rules = resources(service, 'AWS::Events::Rule').map(([id]) => /^Messaging(\w+)[0-9A-F]{8}$/.exec(id)?.[1])
    expect(ids.toSorted()).toEqual(
      [
        'ServerErrors',
        'AdminRefused',
        'OverdueOldest',
        'OverdueFailed',
        'TableReadThrottles',
        'TableWriteThrottles',
        'UndeliveredDepth',
        'UnrelayedDepth',
        ...CALLEE_KINDS.map((called) => `${pascal(called)}NoAnswer`),
        ...plans.flatMap(({ name }) => [`${pascal(name)}Errors`, `${pascal(name)}Throttles`]),
        ...plans
          .filter(({ workers: own }) => own.some(({ source }) => source.kind === 'stream'))
          .map(({ name }) => `${pascal(name)}IteratorAge`),
        ...workers.filter(({ source }) => source.kind === 'schedule').map(({ name }) => `${pascal(name)}Missing`),
        ...QUEUE_NAMES.flatMap((name) => [`${pascal(name)}Age`, `${pascal(name)}FailedDepth`]),
        ...rules.map((rule) => `${rule}Failures`),
      ].toSorted(),
    )
  })

  it('notify the topic when they go on and when they go off', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toHaveLength(1)
      expect(OKActions).toEqual(AlarmActions)
    }
  })

  it('reach the topic: its policy, which replaces SNS’s own, lets the account’s alarms publish', () => {
    const [[topic] = ['']] = resources(operations, 'AWS::SNS::Topic')
    const [[, policy] = []] = resources(operations, 'AWS::SNS::TopicPolicy')
    expect(policy?.Properties.PolicyDocument.Statement).toContainEqual({
      Sid: 'Alarms',
      Effect: 'Allow',
      Action: 'sns:Publish',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Resource: { Ref: topic },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    })
  })

  it('say whether they page, what is wrong and which runbook section applies; each section belongs to an alarm', () => {
    const named = new Set<string>()
    for (const { AlarmDescription } of alarms) {
      const [, section = ''] = /^\[(?:page|ticket)\] \S.+\. docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription) ?? []
      expect(sections, AlarmDescription).toContain(section)
      named.add(section)
    }
    expect([...named].sort()).toEqual(Object.keys(KINDS).sort())
    expect(sections.filter((section) => !named.has(section ?? ''))).toEqual([
      'First look',
      "A deployment that can't be rolled back",
      'Exercises',
      'Verify the audit',
    ])
  })

  it('on rules of the bus have the bus as a dimension, without which CloudWatch has no such metric', () => {
    const onBus = alarms.filter(({ id }) => /^To\w+Failures$/.test(id))
    expect(onBus).not.toHaveLength(0)
    for (const { Dimensions, MetricName } of onBus) {
      expect(Dimensions.map(({ Name }: { Name: string }) => Name)).toEqual(['EventBusName', 'RuleName'])
      expect(MetricName).toBe('RetryInvocationAttempts')
    }
  })
})

describe('the dashboard', () => {
  const [[, dashboard] = []] = resources(operations, 'AWS::CloudWatch::Dashboard')
  const parts = (dashboard as Resource).Properties.DashboardBody['Fn::Join'][1] as unknown[]
  const body = JSON.parse(
    parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part).replaceAll('"', "'"))).join(''),
  )
  const widgets = body.widgets as {
    type: string
    properties: { alarms?: string[]; metrics?: unknown[]; title?: string }
  }[]

  it('shows every alarm, and a graph of each kind', () => {
    const shown = JSON.stringify(widgets.flatMap(({ properties }) => properties.alarms ?? []))
    for (const { logicalId } of alarms) expect(shown).toContain(logicalId)
    const titles = widgets.map(({ properties }) => properties.title)
    for (const title of Object.values(KINDS)) expect(titles).toContain(title)
  })

  it('stays within CloudWatch’s limits: 100 alarms and 500 metrics in a widget, 2,500 metrics and 500 widgets in all', () => {
    const metrics = widgets.map(({ properties }) => properties.metrics?.length ?? 0)
    for (const { properties } of widgets) expect(properties.alarms?.length ?? 0).toBeLessThanOrEqual(100)
    expect(Math.max(...metrics)).toBeLessThanOrEqual(500)
    expect(metrics.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2_500)
    expect(widgets.length).toBeLessThanOrEqual(500)
  })

  it('is named by an output', () => {
    expect(JSON.stringify(operations.toJSON().Outputs.DashboardUrl.Value)).toContain('#dashboards/dashboard/')
  })
})

it('a redrive finds every dead-letter queue among the stack’s resources', () => {
  const queues = resources(service, 'AWS::SQS::Queue')
  const found = parseQueues(queues.map(([id]) => ({ id, url: id })))
  // Queues that delay a schedule's event hold nothing worth a second try.
  const dead = queues
    .filter(([, { Properties }]) => Properties.RedrivePolicy === undefined && Properties.DelaySeconds === undefined)
    .map(([id]) => id)
  expect(found.deadLetters.map(({ url }) => url).sort()).toEqual(dead.sort())
  expect(found.working.size).toBe(QUEUE_NAMES.length)
  expect(() => parseQueues([])).toThrow(/has no queue/)
})

describe('a stage over a restored table', () => {
  const stream = 'arn:aws:dynamodb:us-east-1:123456789012:table/Restored/stream/2026-11-22T00:00:00.000'
  const restored = synthesize({ stage: 'prod', restoredTableStreamArn: stream, backup: 'true' })
  const before = synthesize({ stage: 'prod' })
  const text = JSON.stringify(restored.service.toJSON())

  it('reads, writes, relays and watches only that table', () => {
    const functions = resources(restored.service, 'AWS::Lambda::Function').filter(
      ([, { Metadata }]) => Metadata?.function,
    )
    for (const [, { Properties }] of functions) expect(Properties.Environment.Variables.TABLE_NAME).toBe('Restored')
    expect(text).toContain(`"EventSourceArn":"${stream}"`)
    expect(text).toContain('table/Restored/index/due')
    expect(text).not.toMatch(/Output(?!\w*AuditTable)\w*Table[0-9A-F]{8}/)
    expect(JSON.stringify(restored.operations.toJSON())).toContain('"Value":"Restored"')
  })

  it('reads and adds to a restored table of the audit only', () => {
    const arn = 'arn:aws:dynamodb:us-east-1:123456789012:table/RestoredAudit'
    const { service, data } = synthesize({ stage: 'prod', restoredAuditTableArn: arn })
    for (const [, { Properties }] of functionsOf(service))
      expect(Properties.Environment.Variables.AUDIT_TABLE_NAME).toBe('RestoredAudit')
    for (const name of plans.map((plan) => plan.name)) {
      const denied = statementsOf(service, name).find(({ Sid }) => Sid === 'AuditTableIsAppendOnly')
      expect(denied?.resources).toEqual([arn])
    }
    expect(resources(data, 'AWS::DynamoDB::Table')).toEqual(resources(before.data, 'AWS::DynamoDB::Table'))
  })

  it('keeps the old table', () => {
    expect(resources(restored.data, 'AWS::DynamoDB::Table')).toEqual(resources(before.data, 'AWS::DynamoDB::Table'))
  })

  it('is backed up each night into a vault that keeps it for 35 days', () => {
    restored.data.hasResourceProperties('AWS::Backup::BackupVault', { LockConfiguration: { MinRetentionDays: 35 } })
    // The vault outlives its stack, so its name must not block a second one.
    const [[, vault] = []] = resources(restored.data, 'AWS::Backup::BackupVault')
    expect(JSON.stringify(vault?.Properties.BackupVaultName)).toContain('AWS::StackId')
    const [[, plan] = []] = resources(restored.data, 'AWS::Backup::BackupPlan')
    expect(plan?.Properties.BackupPlan.BackupPlanRule[0].Lifecycle).toEqual({ DeleteAfterDays: 35 })
    const [[, selection] = []] = resources(restored.data, 'AWS::Backup::BackupSelection')
    const [table, audit]: unknown[] = selection?.Properties.BackupSelection.Resources ?? []
    expect(table).toBe(stream.split('/stream')[0])
    expect(JSON.stringify(audit)).toContain('AuditTable')
    expect(resources(before.data, 'AWS::Backup::BackupVault')).toEqual([])
  })
})
