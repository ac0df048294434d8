import { describe, expect, it } from 'vitest'
import { AUDIT_KEYS } from '#infra/grants.ts'
import { AuditEntity } from '#shared/entities/platform.ts'
import { functionsOf, plans, resources, statementsOf, synthesize } from './support.ts'

const { data, service } = synthesize()
const names = plans.map((plan) => plan.name)
const text = JSON.stringify

describe('what the roles may do', () => {
  it('covers every function that is declared', () => {
    expect([...functionsOf(service).keys()].sort()).toEqual([...names].sort())
  })

  it('never scans the table', () => {
    expect(text([data.toJSON(), service.toJSON()])).not.toMatch(/dynamodb:(Scan|PartiQLSelect|\*)/)
  })

  it('has a wildcard in no action', () => {
    for (const name of names) {
      for (const { actions } of statementsOf(service, name))
        expect(actions.filter((action) => action.includes('*'))).toEqual([])
    }
  })

  it('has a whole wildcard as a resource for traces only, and for reading alarms and figures where health is told', () => {
    for (const name of names) {
      const open = statementsOf(service, name).filter(({ resources: of }) => of.includes('*'))
      const measured = name === 'observation' ? ['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'] : []
      const traces = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords']
      expect(open.flatMap(({ actions }) => actions).sort()).toEqual([...measured, ...traces].sort())
    }
  })

  it.each(names)('denies %s every change to the audit', (name) => {
    const deny = statementsOf(service, name).find(({ Effect }) => Effect === 'Deny')
    expect(deny?.actions).toEqual(
      expect.arrayContaining(['dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:BatchWriteItem']),
    )
    expect(deny?.Condition).toEqual({ 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [AUDIT_KEYS] } })
    expect(text(deny?.resources)).toContain('Table')
  })

  it('names the audit as its entity does', () => {
    const { pk } = AuditEntity.key({ scope: 'platform', id: 'aud_1' })
    expect(pk.startsWith(AUDIT_KEYS.replace('*', ''))).toBe(true)
  })

  it.each(plans)('lets $name read the secrets that it declares, and no other', ({ name, capabilities }) => {
    const read = statementsOf(service, name).filter(({ actions }) => actions.includes('secretsmanager:GetSecretValue'))
    const secrets = read.flatMap(({ resources: of }) =>
      of.map((resource) => /(Token|Admin|Data)Keys|TelegramBot|LanguageModel/.exec(text(resource))?.[0]),
    )
    const known: Record<string, string> = {
      'keys:tokens': 'TokenKeys',
      'keys:admin': 'AdminKeys',
      'keys:data': 'DataKeys',
      bot: 'TelegramBot',
      model: 'LanguageModel',
    }
    const declared = capabilities.flatMap((capability) => known[capability] ?? [])
    expect(secrets.sort()).toEqual(declared.sort())
  })

  it.each(plans)(
    'lets $name send to the queues and the bus that it declares, and to no other',
    ({ name, capabilities, worker }) => {
      const sends = statementsOf(service, name).filter(({ actions }) =>
        actions.some((action) => /SendMessage|PutEvents/.test(action)),
      )
      const declared = capabilities.filter((capability) => /^(queue|bus):/.test(capability))
      expect(sends).toHaveLength(declared.length + (worker?.source.kind === 'stream' ? 1 : 0))
    },
  )

  it.each(plans)('lets $name write the table and objects only if it declares so', ({ name, capabilities }) => {
    const allowed = statementsOf(service, name).flatMap(({ Effect, actions }) => (Effect === 'Allow' ? actions : []))
    expect(allowed.includes('dynamodb:PutItem')).toBe(capabilities.includes('table:write'))
    expect(allowed.includes('dynamodb:GetItem')).toBe(capabilities.includes('table:read'))
    const reached = (action: string) => [
      ...new Set(
        statementsOf(service, name)
          .filter(({ actions }) => actions.includes(action))
          .flatMap(({ resources: of }) => of.map((resource) => /(\w+)\/\*/.exec(text(resource))?.[1])),
      ),
    ]
    const declared = (right: 'read' | 'write') => [
      ...(capabilities.includes(`objects:${right}`) ? ['payloads', 'tasks', 'manifests', 'kept'] : []),
      ...(capabilities.includes(`files:${right}`) ? ['files'] : []),
    ]
    expect(reached('s3:GetObject').sort()).toEqual(declared('read').sort())
    expect(reached('s3:PutObject').sort()).toEqual(declared('write').sort())
    expect(reached('s3:DeleteObject').sort()).toEqual(declared('write').sort())
    // Without it a missing object would be a forbidden one.
    expect(allowed.includes('s3:ListBucket')).toBe(declared('read').length > 0)
  })

  it('lets only functions that serve or remove files reach the content of customers’ files', () => {
    const reaching = plans.filter(({ capabilities }) => capabilities.some((one) => one.startsWith('files:')))
    expect(reaching.map(({ name }) => name)).toEqual([
      'console-files',
      'developer-account',
      'inline-agents',
      'overdue-sweep',
      'tools',
      'workspace',
      'workspace-removal',
    ])
  })

  it('gives no role a policy from elsewhere', () => {
    const roles = resources(service, 'AWS::IAM::Role').filter(([, role]) => text(role).includes('lambda.amazonaws.com'))
    expect(roles).toHaveLength(names.length)
    for (const [, role] of roles) expect(role.Properties.ManagedPolicyArns).toBeUndefined()
    service.resourceCountIs('AWS::IAM::Policy', 0)
  })
})
