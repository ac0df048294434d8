import { describe, expect, it } from 'vitest'
import { type Resource, resources, synthesize } from './support.ts'

const stages = ['dev', 'prod'].map((stage) => synthesize({ stage }))
const templates = stages.flatMap(({ data, service, operations }) => [data, service, operations])

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

  it('can move from exports to outputs: for one deployment they have both, and read only the outputs', () => {
    const { data, service } = synthesize({ stage: 'prod', references: 'both' })
    const exported = Object.values(data.toJSON().Outputs).filter((output) => Object.hasOwn(output as object, 'Export'))
    expect(exported.length).toBeGreaterThan(0)
    expect(JSON.stringify(service.toJSON())).not.toContain('Fn::ImportValue')
  })

  it('stay well below the 500 resources of a stack and the 300 of an API', () => {
    for (const template of templates) expect(Object.keys(template.toJSON().Resources).length).toBeLessThan(480)
    for (const template of templates) expect(resources(template, 'AWS::ApiGateway::Resource').length).toBeLessThan(250)
    for (const template of templates) expect(Object.keys(template.toJSON().Outputs ?? {}).length).toBeLessThan(180)
  })

  it('keep the account’s role for API logs when one of them is deleted', () => {
    for (const { service } of stages) {
      const [[, account] = []] = resources(service, 'AWS::ApiGateway::Account')
      expect(account?.DeletionPolicy).toBe('Retain')
    }
  })
})
