import { describe, expect, it } from 'vitest'
import { type Resource, resources, type Synthesized, synthesize } from './support.ts'

const stages = ['dev', 'prod'].map((stage) => synthesize({ stage }))
const templatesOf = ({ data, service, routes, operations, edge }: Synthesized) => [
  ...[data, service, routes, operations],
  ...(edge === undefined ? [] : [edge]),
]
const templates = stages.flatMap(templatesOf)

const region = 'us-east-1:123456789012'
const domain = { domainName: 'api.example.com', hostedZone: { id: 'Z1', name: 'example.com' } }
/** Every setting that adds resources wherever the stage is, and however it is reached. */
const everything = {
  ...domain,
  stage: 'prod',
  certificateArn: `arn:aws:acm:${region}:certificate/1`,
  alarmEmail: 'ops@example.com',
  monthlyBudget: 100,
  costMonitorArn: 'arn:aws:ce::123456789012:anomalymonitor/1',
  journeyRun: true,
  backup: true,
  backupCopyVaultArn: 'arn:aws:backup:eu-west-1:123456789012:backup-vault:copies',
  auditLockDays: 30,
  modelApiUrl: 'https://model.example.com',
  tableCapacity: { provisioned: { reads: { min: 1, max: 10 }, writes: { min: 1, max: 10 } } },
}
/** With the edge and its web ACL, with the edge from another region, and with a domain and a web ACL of the API. */
const fullest = [
  synthesize({ ...everything, edge: true, waf: true }),
  synthesize({ ...everything, edge: true, waf: false }, {}, 'eu-central-1'),
  synthesize({ ...everything, waf: true }),
]

/** Properties that give a resource a physical name, which may exist only once in an account. */
const physicalNames = [
  'TableName',
  'BucketName',
  'QueueName',
  'TopicName',
  'FunctionName',
  'RoleName',
  'LogGroupName',
  'RuleName',
  'AlarmName',
  'ManagedPolicyName',
]
/** Resources whose such property refers to another resource and names none. */
const references = [
  ...['Permission', 'EventSourceMapping', 'EventInvokeConfig', 'Version', 'Alias'].map(
    (type) => `AWS::Lambda::${type}`,
  ),
  'AWS::Logs::MetricFilter',
]

/** A name with a part of the stack's id can't exist twice. WAF demands names for its logs that start in a certain way. */
const named = (name: unknown): boolean => name !== undefined && !JSON.stringify(name).includes('AWS::StackId')

describe('stages in the same account', () => {
  it('have their own stacks', () => {
    expect(stages.flatMap(({ names }) => names)).toEqual([
      'Platform-dev-Data',
      'Platform-dev-Service',
      'Platform-dev-Operations',
      'Platform-prod-Data',
      'Platform-prod-Service',
      'Platform-prod-Operations',
    ])
  })

  it('give no resource a physical name that could collide', () => {
    for (const template of templates) {
      const all = Object.entries(template.toJSON().Resources) as [string, Resource][]
      for (const [id, { Type, Properties }] of all.filter(([, { Type }]) => !references.includes(Type))) {
        expect({ id, Type, named: physicalNames.filter((name) => named(Properties?.[name])) }).toEqual({
          id,
          Type,
          named: [],
        })
      }
    }
  })

  it('give their buses, APIs and secrets different names', () => {
    for (const [type, property] of [
      ['AWS::Events::EventBus', 'Name'],
      ['AWS::ApiGateway::RestApi', 'Name'],
      ['AWS::SecretsManager::Secret', 'Name'],
    ] as const) {
      const named = templates.flatMap((template) =>
        resources(template, type).map(([, { Properties }]) => Properties[property]),
      )
      const given = named.filter((name) => name !== undefined)
      expect(new Set(given).size).toBe(given.length)
    }
  })

  it('export nothing, so that an update may change or remove what another stack reads', () => {
    for (const template of templates)
      for (const output of Object.values(template.toJSON().Outputs ?? {})) expect(output).not.toHaveProperty('Export')
  })

  it('stay below 350 of a stack’s 500 resources and 250 of an API’s 300, with every setting that adds some', () => {
    const templates = fullest.flatMap(templatesOf)
    for (const template of templates) {
      const { Resources, Outputs = {}, Parameters = {} } = template.toJSON()
      expect(Object.keys(Resources).length).toBeLessThanOrEqual(350)
      expect(Object.keys(Outputs).length).toBeLessThan(180)
      expect(Object.keys(Parameters).length).toBeLessThan(180)
      expect(resources(template, 'AWS::ApiGateway::Resource').length).toBeLessThan(250)
    }
  })

  it('keep the account’s role for API logs when one of them is deleted', () => {
    for (const { service } of stages) {
      const [[, account] = []] = resources(service, 'AWS::ApiGateway::Account')
      expect(account?.DeletionPolicy).toBe('Retain')
    }
  })
})
