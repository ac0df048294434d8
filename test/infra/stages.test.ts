import { describe, expect, it } from 'vitest'
import { type Resource, resources, synthesize } from './support.ts'

const stages = ['dev', 'prod'].map((stage) => synthesize({ stage }))
const templates = stages.flatMap(({ data, service, routes, operations }) => [data, service, routes, operations])

/** Properties by which a resource gets a name of its own, which a second one in the account could not have. */
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
/** Where such a property refers to a resource and names none. */
const references = ['Permission', 'EventSourceMapping', 'EventInvokeConfig', 'Version', 'Alias'].map(
  (type) => `AWS::Lambda::${type}`,
)

describe('stages side by side in one account', () => {
  it('are stacks of their own', () => {
    expect(stages.flatMap(({ names }) => names)).toEqual([
      'Platform-dev-Data',
      'Platform-dev-Service',
      'Platform-dev-Routes',
      'Platform-dev-Operations',
      'Platform-prod-Data',
      'Platform-prod-Service',
      'Platform-prod-Routes',
      'Platform-prod-Operations',
    ])
  })

  it('give no resource a physical name that could collide', () => {
    for (const template of templates) {
      const all = Object.entries(template.toJSON().Resources) as [string, Resource][]
      for (const [id, { Type, Properties }] of all.filter(([, { Type }]) => !references.includes(Type))) {
        expect({ id, Type, named: physicalNames.filter((name) => Properties?.[name] !== undefined) }).toEqual({
          id,
          Type,
          named: [],
        })
      }
    }
  })

  it('name their buses, APIs and secrets apart', () => {
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

  it('export under names of their own', () => {
    const names = templates.flatMap((template) =>
      Object.values(template.toJSON().Outputs ?? {}).flatMap(
        (output) => (output as { Export?: { Name: string } }).Export?.Name ?? [],
      ),
    )
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(0)
  })

  it('stay well below the 500 resources that a stack may have, and the 300 of an API', () => {
    for (const template of templates) expect(Object.keys(template.toJSON().Resources).length).toBeLessThan(450)
    for (const template of templates) expect(resources(template, 'AWS::ApiGateway::Resource').length).toBeLessThan(250)
    for (const template of templates) expect(Object.keys(template.toJSON().Outputs ?? {}).length).toBeLessThan(180)
  })

  it('leave the account’s role for API logs to each other when one is deleted', () => {
    for (const { routes } of stages) {
      const [[, account] = []] = resources(routes, 'AWS::ApiGateway::Account')
      expect(account?.DeletionPolicy).toBe('Retain')
    }
  })
})
