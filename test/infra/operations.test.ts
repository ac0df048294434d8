import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { pascal } from '#infra/plan.ts'
import { KINDS } from '#infra/watches/watch.ts'
import { parseQueues } from '#ops/redrive/queues.ts'
import { CALLEE_KINDS } from '#shared/kernel/metrics.ts'
import { QUEUE_NAMES } from '#shared/kernel/queue-names.ts'
import { functionsOf, plans, type Resource, resources, statementsOf, synthesize, workers } from './support.ts'

const { service, operations } = synthesize({ modelApiUrl: 'https://model.example/v1' })
const alarms = resources(operations, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({
  id: /^Alarms(\w+)[0-9A-F]{8}$/.exec(id)?.[1] ?? id,
  logicalId: id,
  ...Properties,
}))
const ids = alarms.map(({ id }) => id)
const composites = resources(operations, 'AWS::CloudWatch::CompositeAlarm').map(([id, { Properties }]) => ({
  id: /^Alarms(\w+)[0-9A-F]{8}$/.exec(id)?.[1] ?? id,
  logicalId: id,
  ...Properties,
}))
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
        'FailedDepth',
        'UndeliveredDepth',
        'UnrelayedDepth',
        ...CALLEE_KINDS.map((called) => `${pascal(called)}NoAnswer`),
        'AccountConcurrency',
        'JourneyFailed',
        'SlowRequests',
        'FastBurnLong',
        'FastBurnShort',
        'SlowBurn',
        ...['Errors', 'Throttles', 'Duration'].map((what) => `Function${what}`),
        ...plans
          .filter(({ workers: own }) => own.some(({ source }) => source.kind === 'stream'))
          .map(({ name }) => `${pascal(name)}IteratorAge`),
        ...workers.filter(({ source }) => source.kind === 'schedule').map(({ name }) => `${pascal(name)}Missing`),
        ...QUEUE_NAMES.map((name) => `${pascal(name)}Age`),
        ...rules.map((rule) => `${rule}Failures`),
      ].toSorted(),
    )
  })

  it('notify the topic when they start and when they stop, except the windows of another alarm', () => {
    for (const { id, AlarmActions, OKActions } of [...alarms, ...composites]) {
      if (/Burn(Long|Short)$/.test(id)) {
        expect(AlarmActions).toBeUndefined()
        continue
      }
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
    const notifying = [...alarms, ...composites].filter(({ AlarmActions }) => AlarmActions !== undefined)
    for (const { AlarmDescription } of notifying) {
      const [, section = ''] = /^\[(?:page|ticket)\] \S.+\. docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription) ?? []
      expect(sections, AlarmDescription).toContain(section)
      named.add(section)
    }
    expect([...named].sort()).toEqual(Object.keys(KINDS).sort())
    expect(sections.filter((section) => !named.has(section ?? ''))).toEqual([
      'First look',
      'Costs',
      "A deployment that can't be rolled back",
      'Exercises',
      'Verify the audit',
    ])
  })

  it('on functions watch what the log of every function says about failed invocations', () => {
    const filters = resources(operations, 'AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties)
    const logs = [...functionsOf(service)].map(([, { Properties }]) => Properties.LoggingConfig.LogGroup.Ref)
    const read = filters.map(({ LogGroupName }) => JSON.stringify(LogGroupName))
    expect(logs.filter((id) => read.filter((name) => name.includes(id)).length !== 1)).toEqual([])
    expect(filters.length).toBe(logs.length)
    const alarm = alarms.find(({ id }) => id === 'FunctionErrors')
    for (const { FilterPattern, MetricTransformations } of filters) {
      expect(FilterPattern).toBe('{ $.type = "platform.report" && $.record.status != "success" }')
      expect(MetricTransformations).toEqual([
        { MetricNamespace: alarm?.Namespace, MetricName: alarm?.MetricName, MetricValue: '1' },
      ])
    }
    expect(alarm?.Dimensions).toBeUndefined()
    // Lambda logs that line for failed invocations only from this level on.
    for (const [, { Properties }] of functionsOf(service))
      expect(Properties.LoggingConfig).toMatchObject({ LogFormat: 'JSON', SystemLogLevel: 'WARN' })
  })

  it('on throttled functions watch those of the account, whose executions all functions share', () => {
    const throttles = alarms.find(({ id }) => id === 'FunctionThrottles')
    expect(throttles).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'Throttles', Statistic: 'Sum' })
    expect(throttles?.Dimensions).toBeUndefined()
  })

  it('on calls of the language model exist only in stages that have one', () => {
    const without = resources(synthesize().operations, 'AWS::CloudWatch::Alarm').map(([id]) => id)
    expect(without.filter((id) => /NoAnswer/.test(id))).toEqual([
      expect.stringMatching(/WebhookNoAnswer/),
      expect.stringMatching(/AgentNoAnswer/),
    ])
  })

  it('on throttling include every index, which the table’s own metric leaves out, and the audit’s table', () => {
    for (const what of ['Read', 'Write']) {
      const alarm = alarms.find(({ id }) => id === `Table${what}Throttles`)
      const parts = alarm?.Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat !== undefined)
      expect(parts.map(({ Label }: { Label: string }) => Label)).toEqual(
        [
          'platform',
          'platform due',
          'platform directory',
          'platform list',
          'audit',
          'audit directory',
          'audit list',
        ].map((name) => `${name} ${what.toLowerCase()}s`),
      )
    }
  })

  it('on the error budget that page need both windows: the long one to matter, the short one to be still going on', () => {
    expect(composites.map(({ id }) => id)).toEqual(['FastBurn'])
    const [fast] = composites
    const windows = ['FastBurnLong', 'FastBurnShort'].map((name) => alarms.find(({ id }) => id === name))
    expect(fast?.AlarmRule['Fn::Join'][1].filter((part: unknown) => typeof part === 'object')).toEqual(
      windows.map((window) => ({ Ref: window?.logicalId })),
    )
    expect(fast?.AlarmRule['Fn::Join'][1].join('')).toContain(' AND ')
    const [long, short] = windows
    const periodsOf = (alarm: (typeof alarms)[number] | undefined) =>
      alarm?.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Period: number } }) => MetricStat?.Period ?? [])
    expect(periodsOf(long)).toEqual([3_600, 3_600])
    // The average of 5XXError is the share of the requests: 1.44 %, however few they are.
    expect(short).toMatchObject({ MetricName: '5XXError', Statistic: 'Average', Period: 300, Threshold: 0.0144 })
    expect(fast?.AlarmDescription).toMatch(/^\[page\] 1\.44 %/)
    const slow = alarms.find(({ id }) => id === 'SlowBurn')
    expect(periodsOf(slow)).toEqual([21_600, 21_600])
    expect(slow?.AlarmDescription).toMatch(/^\[ticket\] 0\.6 %/)
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

describe('the journey', () => {
  type Result = { failed?: string; error?: string }
  const { lineOf, travel, journey } = createRequire(import.meta.url)('../../infra/journey/index.cjs') as {
    lineOf: (result: Result) => string
    travel: (options: object) => Promise<Result>
    journey: (options: object) => Promise<void>
  }
  const app = { app_id: 'app_1', developer_key: 'dvk_1' }
  const answers: Record<string, [number, unknown]> = {
    '/openapi.json': [200, {}],
    '/api/v1/me': [401, { error: { request_id: 'req_1' } }],
    '/api/v1/dev/apps/app_1/sandbox-token': [200, { access_token: 'token' }],
    '/api/v1/runs?wait=20': [201, { id: 'run_1', status: 'succeeded' }],
  }
  const travelWith = async (changed: Record<string, [number, unknown]>, given?: typeof app) => {
    const asked: string[] = []
    const fetch = async (url: string) => {
      const path = url.slice('https://platform.example'.length)
      asked.push(path)
      const [status, body] = { ...answers, ...changed }[path] ?? [500, {}]
      return new Response(JSON.stringify(body), { status })
    }
    const result = await travel({ fetch, base: 'https://platform.example', app: given })
    return { asked, result, line: JSON.parse(lineOf(result)) }
  }

  it('ends with a run of the operator’s app, and without one after the steps that need no credentials', async () => {
    const whole = await travelWith({}, app)
    expect(whole.asked).toEqual(Object.keys(answers))
    expect(whole.line).toMatchObject({ message: 'journey', level: 'info' })
    const short = await travelWith({}, { app_id: '', developer_key: '' })
    expect(short.asked).toEqual(Object.keys(answers).slice(0, 2))
    expect(short.line.level).toBe('info')
  })

  it.each([
    ['/openapi.json', [502, {}], 'document'],
    ['/api/v1/me', [401, { message: 'Forbidden' }], 'refusal'],
    ['/api/v1/dev/apps/app_1/sandbox-token', [401, {}], 'token'],
    ['/api/v1/runs?wait=20', [201, { id: 'run_1', status: 'queued' }], 'run'],
  ] as [string, [number, unknown], string][])('fails at %s and takes no later step', async (path, answer, step) => {
    const { asked, line } = await travelWith({ [path]: answer }, app)
    expect(asked.at(-1)).toBe(path)
    expect(line).toMatchObject({ level: 'error', failed: step })
    expect(JSON.stringify(line)).not.toContain('dvk_1')
  })

  it('fails as a function when a step does, after it has logged which one', async () => {
    const lines: string[] = []
    const run = (status: number) =>
      journey({
        env: { BASE_URL: 'https://platform.example' },
        fetch: async (url: string) =>
          url.endsWith('.json')
            ? new Response('{}', { status })
            : new Response(JSON.stringify({ error: { request_id: 'req_1' } }), { status: 401 }),
        write: (line: string) => void lines.push(line),
      })
    await run(200)
    await expect(run(502)).rejects.toThrow('the journey failed at: document')
    expect(lines.map((line) => JSON.parse(line).failed)).toEqual([undefined, 'document'])
  })

  it('has an alarm on its function’s errors, for which a missing journey is as bad as a failed one', () => {
    const alarm = alarms.find(({ id }) => id === 'JourneyFailed')
    const [[id] = ['']] = resources(operations, 'AWS::Lambda::Function').filter(([one]) => one.startsWith('Journey'))
    expect(alarm).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
      ComparisonOperator: 'GreaterThanThreshold',
      Threshold: 0,
      TreatMissingData: 'breaching',
    })
    // Lambda would repeat what failed, which would count again.
    operations.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: id },
      MaximumRetryAttempts: 0,
    })
  })

  it('may read nothing, or only its secret if it ends with a run', () => {
    const actionsOf = (of: typeof operations) =>
      resources(of, 'AWS::IAM::Role')
        .filter(([id]) => id.startsWith('Journey'))
        .flatMap(([, role]) =>
          role.Properties.Policies.flatMap(
            ({ PolicyDocument }: { PolicyDocument: { Statement: { Action: string | string[] }[] } }) =>
              PolicyDocument.Statement.flatMap(({ Action }) => Action),
          ),
        )
    expect(actionsOf(operations)).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents'])
    operations.resourceCountIs('AWS::SecretsManager::Secret', 0)
    const { operations: whole } = synthesize({ journeyRun: 'true' })
    expect(actionsOf(whole)).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents', 'secretsmanager:GetSecretValue'])
    whole.resourceCountIs('AWS::SecretsManager::Secret', 1)
  })
})

describe('costs', () => {
  it('are reported to the alarms’ topic when the stage has a budget, with anomalies if it names a monitor', () => {
    operations.resourceCountIs('AWS::Budgets::Budget', 0)
    const costMonitorArn = 'arn:aws:ce::123456789012:anomalymonitor/0a1b'
    const { operations: budgeted } = synthesize({ stage: 'prod', monthlyBudget: '400', costMonitorArn })
    const [[topic] = ['']] = resources(budgeted, 'AWS::SNS::Topic')
    const [[, budget] = []] = resources(budgeted, 'AWS::Budgets::Budget')
    expect(budget?.Properties.Budget.BudgetLimit).toEqual({ Amount: 400, Unit: 'USD' })
    for (const { Subscribers } of budget?.Properties.NotificationsWithSubscribers ?? [])
      expect(Subscribers).toEqual([{ Address: { Ref: topic }, SubscriptionType: 'SNS' }])
    const [[, anomalies] = []] = resources(budgeted, 'AWS::CE::AnomalySubscription')
    expect(anomalies?.Properties.MonitorArnList).toEqual([costMonitorArn])
    expect(JSON.parse(anomalies?.Properties.ThresholdExpression).Dimensions.Values).toEqual(['20'])
    const [[, policy] = []] = resources(budgeted, 'AWS::SNS::TopicPolicy')
    const services = policy?.Properties.PolicyDocument.Statement.flatMap(
      ({ Principal }: { Principal?: { Service?: string } }) => Principal?.Service ?? [],
    )
    expect(services).toEqual(expect.arrayContaining(['budgets.amazonaws.com', 'costalerts.amazonaws.com']))
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
    for (const { logicalId, AlarmActions } of [...alarms, ...composites])
      if (AlarmActions !== undefined) expect(shown).toContain(logicalId)
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

  it('has its backups copied to the vault of the setting, where they are kept for as long', () => {
    const backupCopyVaultArn = 'arn:aws:backup:eu-west-1:123456789012:backup-vault:copies'
    const { data } = synthesize({ stage: 'prod', backup: 'true', backupCopyVaultArn })
    const [[, plan] = []] = resources(data, 'AWS::Backup::BackupPlan')
    expect(plan?.Properties.BackupPlan.BackupPlanRule[0].CopyActions).toEqual([
      { DestinationBackupVaultArn: backupCopyVaultArn, Lifecycle: { DeleteAfterDays: 35 } },
    ])
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
