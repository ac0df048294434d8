import { createRequire } from 'node:module'
import { LambdaDeploymentConfig } from 'aws-cdk-lib/aws-codedeploy'
import { describe, expect, it } from 'vitest'
import { STEPS } from '#infra/rollout/pace.ts'
import { functionsOf, plans, projectContext, type Resource, resources, synthesize } from './support.ts'

const text = JSON.stringify
const prod = synthesize({ stage: 'prod' })
const dev = synthesize()

/** Returns the alias of each function, by the name of its folder. */
const aliasesOf = ({ service }: typeof prod): Map<string, Resource & { id: string }> => {
  const names = new Map([...functionsOf(service)].map(([name, { id }]) => [id, name]))
  return new Map(
    resources(service, 'AWS::Lambda::Alias').map(([id, alias]) => [
      names.get(alias.Properties.FunctionName.Ref) ?? '',
      { id, ...alias },
    ]),
  )
}

describe.each([
  ['by steps', prod],
  ['all at once', dev],
])('functions that are rolled out %s', (_, stacks) => {
  const aliases = aliasesOf(stacks)
  const { service, routes } = stacks
  const ids = new Set([...aliases.values()].map(({ id }) => id))

  it.each(plans)('$name has a version of its code, and an alias that points to it', ({ name }) => {
    const alias = aliases.get(name)
    expect(alias?.Properties.Name).toBe('live')
    const [version] = alias?.Properties.FunctionVersion['Fn::GetAtt'] ?? []
    const published = resources(service, 'AWS::Lambda::Version').find(([id]) => id === version)?.[1]
    expect(published?.Properties.FunctionName).toEqual({ Ref: functionsOf(service).get(name)?.id })
    // The previous version remains for rollbacks. A failed update's version is deleted, or it couldn't be published
    // again.
    expect(published?.DeletionPolicy).toBe('RetainExceptOnCreate')
  })

  it('are reached only by their aliases from every route, event source and schedule', () => {
    const uris = resources(routes, 'AWS::ApiGateway::Method').map(([, { Properties }]) => Properties.Integration.Uri)
    const sources = resources(service, 'AWS::Lambda::EventSourceMapping').map(
      ([, item]) => item.Properties.FunctionName,
    )
    const schedules = resources(service, 'AWS::Events::Rule')
      .filter(([, { Properties }]) => Properties.ScheduleExpression !== undefined)
      .flatMap(([, { Properties }]) => Properties.Targets.map(({ Arn }: { Arn: unknown }) => Arn))
      // A queue's function is set in its mapping.
      .filter((arn) => !text(arn).includes('Again'))
    const permissions = [service, routes]
      .flatMap((template) => resources(template, 'AWS::Lambda::Permission'))
      .map(([, item]) => item.Properties.FunctionName)
    expect(schedules.length).toBeGreaterThan(0)
    for (const target of [...uris, ...sources, ...schedules, ...permissions]) {
      const named = [...ids].filter((id) => text(target).includes(`{"Ref":"${id}"}`))
      expect({ target: text(target), aliases: named.length }).toMatchObject({ aliases: 1 })
    }
  })

  it('keep schedules from being retried, at the alias where they are invoked', () => {
    const configs = resources(service, 'AWS::Lambda::EventInvokeConfig').map(([, { Properties }]) => Properties)
    expect(configs).toHaveLength(
      plans.filter(({ workers }) => workers.some(({ source }) => source.kind === 'schedule')).length,
    )
    for (const config of configs) {
      expect(config.MaximumRetryAttempts).toBe(0)
      expect([...ids].some((id) => text(config.Qualifier).includes(`"${id}"`))).toBe(true)
    }
  })
})

describe('a rollout in steps', () => {
  const { service } = prod
  const groups = new Map(resources(service, 'AWS::CodeDeploy::DeploymentGroup'))
  const alarms = new Map(resources(service, 'AWS::CloudWatch::Alarm'))

  const served = plans.filter(({ workers }) => workers.length === 0)

  it('is left out for workers, which switch at once: their queues keep what a broken version fails on', () => {
    const stepped = [...aliasesOf(prod)].filter(([, alias]) => text(alias).includes('CodeDeployLambdaAliasUpdate'))
    expect(stepped.map(([name]) => name).sort()).toEqual(served.map(({ name }) => name).sort())
  })

  it('moves at most four functions at the same time', () => {
    const aliases = aliasesOf(prod)
    const depth = (id: string): number => {
      const alias = [...aliases.values()].find((one) => one.id === id)
      return Math.max(0, ...[alias?.DependsOn ?? []].flat().map((before) => 1 + depth(before)))
    }
    const waves = Object.groupBy(served, ({ name }) => depth(aliases.get(name)?.id ?? ''))
    const sizes = Object.values(waves).map((wave) => wave?.length ?? 0)
    expect(sizes.length).toBe(Math.ceil(served.length / 4))
    for (const size of sizes) expect(size).toBeLessThanOrEqual(4)
  })

  it.each(served)('of $name is checked first, watched, and rolled back automatically', ({ name }) => {
    const alias = aliasesOf(prod).get(name) as unknown as {
      UpdatePolicy: Record<string, Record<string, { Ref: string }>>
    }
    const policy = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate
    expect(policy?.BeforeAllowTrafficHook?.Ref).toMatch(/^RolloutCheckFunction/)
    const group = groups.get(policy?.DeploymentGroupName?.Ref ?? '')?.Properties
    expect(group.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes')
    expect(group.AutoRollbackConfiguration).toEqual({
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
    })
    expect(group.AlarmConfiguration.Enabled).toBe(true)
    const watched = group.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => alarms.get(Name.Ref))
    const metrics = watched.map((alarm: Resource) => alarm.Properties.MetricName)
    expect(metrics).toEqual(['Errors', 'VersionErrors'])
    // Watches only the new version: errors of the old one roll back no deployment, and those of the new one can't refuse
    // the deployment of its rollback.
    const id = functionsOf(service).get(name)?.id
    const dimensions = text(watched[0].Properties.Dimensions)
    expect(dimensions).toContain(`"Name":"ExecutedVersion","Value":{"Fn::GetAtt":["${id}CurrentVersion`)
    expect(dimensions).toContain(`[{"Ref":"${id}"},":live"]`)
    expect(watched[1].Properties.Dimensions).toEqual([
      { Name: 'Function', Value: { Ref: id } },
      {
        Name: 'Version',
        Value: { 'Fn::GetAtt': [expect.stringContaining(`${id}CurrentVersion`), 'Version'] },
      },
    ])
  })

  it('lets the check follow deployments and invoke versions, and nothing else', () => {
    const role = resources(service, 'AWS::IAM::Role').find(([id]) => id.startsWith('RolloutCheckRole'))?.[1]
    const actions = role?.Properties.Policies[0].PolicyDocument.Statement.flatMap(
      ({ Action }: { Action: string }) => Action,
    )
    expect(actions.sort()).toEqual([
      'codedeploy:GetApplicationRevision',
      'codedeploy:GetDeployment',
      'codedeploy:PutLifecycleEventHookExecutionStatus',
      'lambda:InvokeFunction',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ])
  })

  it('has paces with the names that CodeDeploy knows', () => {
    for (const [pace, constant] of Object.entries(STEPS))
      expect(LambdaDeploymentConfig[constant].deploymentConfigName.toLowerCase()).toBe(
        `codedeploydefault.lambda${pace}`.toLowerCase(),
      )
  })

  it('is left out of deployments all at once, for instance to targets without CodeDeploy', () => {
    expect(text(dev.service.toJSON())).not.toMatch(/CodeDeploy|codedeploy/)
    expect(projectContext().stages).toMatchObject({
      local: { deployment: 'allAtOnce' },
      emulator: { deployment: 'allAtOnce' },
    })
  })
})

type Aws = {
  versions(deployment: string): Promise<{ name: string; version: string }[]>
  invoke(name: string, version: string, payload: string): Promise<{ functionError?: string; payload: string }>
  report(deployment: string, execution: string, status: string): Promise<void>
  wait(ms: number): Promise<void>
}
const { check, EVENT } = createRequire(import.meta.url)('../../infra/rollout/check/index.cjs') as {
  check(event: object, aws: Aws, withinMs: number): Promise<void>
  EVENT: { Records: unknown[] }
}

describe('the check before a new version gets traffic', () => {
  const ask = async (answer: () => Promise<{ functionError?: string; payload: string }>, withinMs = 10_000) => {
    const reports: string[][] = []
    const asked: string[][] = []
    const aws: Aws = {
      versions: async () => [{ name: 'Oauth', version: '7' }],
      invoke: (...call) => {
        asked.push(call)
        return answer()
      },
      report: async (...args) => void reports.push(args),
      wait: async () => {},
    }
    await check({ DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'hook-1' }, aws, withinMs)
    return { reports, asked }
  }
  const answers = (payload: unknown) => async () => ({ payload: typeof payload === 'string' ? payload : text(payload) })

  it.each<[string, unknown]>([
    ['a request function’s error', { statusCode: 404, body: '{}' }],
    ['a streamed error', `{"statusCode":404}${'\0'.repeat(8)}{"error":{}}`],
    ['a worker’s batch', { batchItemFailures: [] }],
    ['a sweep’s empty answer', 'null'],
    ['nothing at all', ''],
  ])('passes a version that answers: %s', async (_, payload) => {
    const { reports, asked } = await ask(answers(payload))
    expect(asked).toEqual([['Oauth', '7', text(EVENT)]])
    expect(reports).toEqual([['d-1', 'hook-1', 'Succeeded']])
  })

  it.each<[string, () => Promise<{ functionError?: string; payload: string }>]>([
    [
      'cannot be loaded',
      async () => ({ functionError: 'Unhandled', payload: '{"errorType":"Runtime.ImportModuleError"}' }),
    ],
    ['answers with a 5xx', answers({ statusCode: 500 })],
    ['fails an empty batch', answers({ batchItemFailures: [{ itemIdentifier: '' }] })],
    ['gives an invalid answer', answers('<html>')],
    ['cannot be invoked', () => Promise.reject(new Error('AccessDenied'))],
  ])('refuses a version that %s', async (_, answer) => {
    expect((await ask(answer)).reports).toEqual([['d-1', 'hook-1', 'Failed']])
  })

  it('invokes a version again while the account throttles', async () => {
    const throttled = Object.assign(new Error('Rate Exceeded.'), { name: 'TooManyRequestsException' })
    let times = 0
    const { reports, asked } = await ask(() =>
      ++times < 4 ? Promise.reject(throttled) : answers({ statusCode: 404, body: '{}' })(),
    )
    expect(asked).toHaveLength(4)
    expect(reports).toEqual([['d-1', 'hook-1', 'Succeeded']])
  })

  it('refuses a version that doesn’t answer, within its own timeout', async () => {
    expect((await ask(() => new Promise(() => {}), 5)).reports).toEqual([['d-1', 'hook-1', 'Failed']])
  })
})
