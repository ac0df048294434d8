import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { GUARDED_KEYS, RECORDERS_KEYS } from '#infra/grants.ts'
import { SigningKeyEntity } from '#shared/foundation/signing-keys/entity.ts'
import { SIGNING_RINGS } from '#shared/kernel/ports/keys.ts'
import { AuditIntakeEntity, UnanchoredEntity } from '#shared/staff/audit/entity.ts'
import { ReceiptUseEntity } from '#shared/work/receipts/entity.ts'
import { functionsOf, plans, resources, statementsOf, synthesize } from './support.ts'

// A production stage with everything on that gives a role more.
const { data, service } = synthesize({ stage: 'prod', modelApiUrl: 'https://model.example/v1' })
const names = plans.map((plan) => plan.name)
const text = JSON.stringify

/** Capabilities of each function by docs/threat-model.md, without those that are no permission. */
const described = new Map(
  [...readFileSync('docs/threat-model.md', 'utf8').matchAll(/^\| `([\w-]+)` \| ((?:`[\w:-]+` ?)+|–) \|$/gm)].map(
    ([, name = '', row = '']) => [
      name,
      [...row.matchAll(/`([\w:-]+)`/g)]
        .map(([, capability = '']) => capability)
        .filter((one) => !['outgoing', 'receipts:use', 'bucket:name', 'sockets:address'].includes(one))
        .sort(),
    ],
  ),
)

/** Permissions of every function: write its log, receive its own messages, and learn that an object is missing. */
const UNIVERSAL = 'universal'
const UNIVERSAL_ACTIONS =
  /^(logs:(CreateLogStream|PutLogEvents)|xray:Put\w+|sqs:(ReceiveMessage|DeleteMessage|GetQueueAttributes)|s3:ListBucket)$/

const kebab = (name: string): string => name.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()

/** Names the capability that an action on a resource belongs to, by what it does. */
const capabilityOf = (action: string, resource: string, hasCondition: boolean): string => {
  if (UNIVERSAL_ACTIONS.test(action)) return UNIVERSAL
  const [, queue] = /"Messaging([A-Za-z]+?)[0-9A-F]{8}"/.exec(resource) ?? []
  const [, secret] = /FnGetAtt(\w+?)[0-9A-F]{8}Id/.exec(resource) ?? []
  const [, bucket, prefix = ''] = /(Key)?BucketArn"\}+,"\/([\w/-]+?)(?:\/\*)?"/.exec(resource) ?? []
  const table = /FnGetAtt(Audit)?Table/.exec(resource)
  const isRead = action === 's3:GetObject'
  switch (action.split(':')[0]) {
    case 'sqs':
      // Where the relay puts aside what it can't publish.
      return queue === 'Unrelayed' ? UNIVERSAL : `queue:${queue === 'Fanout' ? 'fanout' : kebab(queue ?? '?')}`
    case 'events':
      return queue === 'Bus' ? 'bus:put' : action
    case 'ses':
      return 'mail'
    case 'cloudwatch':
      return 'metrics:read'
    case 'execute-api':
      return 'sockets'
    case 'secretsmanager': {
      if (secret === 'TelegramBot') return 'bot'
      if (secret === 'LanguageModel') return 'model'
      const ring = secret?.replace(/Keys$/, '').toLowerCase()
      return `keys:${ring === 'receipt' || ring === 'card' ? `${ring}s` : ring}`
    }
    case 'dynamodb':
      if (/Describe|Shard|Records|ListStreams/.test(action)) return UNIVERSAL
      if (/Get|Query/.test(action)) return 'table:read'
      return table?.[1] ? 'audit:record' : 'table:write'
    case 's3':
      if (bucket) return isRead || hasCondition ? 'keys:data' : 'keys:destroy'
      if (prefix === 'audit') return 'audit:record'
      if (prefix === 'packages') return isRead || hasCondition ? 'packages:keep' : action
      if (prefix === 'public-keys') return isRead ? 'keys:public' : action
      if (prefix.startsWith('public-keys/')) return `keys:${prefix.slice('public-keys/'.length)}`
      if (['payloads', 'tasks', 'manifests', 'kept'].includes(prefix)) return `objects:${isRead ? 'read' : 'write'}`
      return `${prefix}:${isRead ? 'read' : 'write'}`
    default:
      return action
  }
}

describe('the permissions of the roles', () => {
  it('cover every declared function', () => {
    expect([...functionsOf(service).keys()].sort()).toEqual([...names].sort())
  })

  it('never allow scanning the table', () => {
    expect(text([data.toJSON(), service.toJSON()])).not.toMatch(/dynamodb:(Scan|PartiQLSelect|\*)/)
  })

  it('have no wildcard in an action', () => {
    for (const name of names) {
      for (const { actions } of statementsOf(service, name))
        expect(actions.filter((action) => action.includes('*'))).toEqual([])
    }
  })

  it('have a wildcard as a resource only for traces, and for reading alarms and metrics where health is reported', () => {
    const traces = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords']
    for (const [of, more] of [
      [service, []],
      [synthesize({ tracing: 'true' }).service, traces],
    ] as const) {
      for (const name of names) {
        const open = statementsOf(of, name).filter(({ resources }) => resources.includes('*'))
        const measured = name === 'admin' ? ['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'] : []
        expect(open.flatMap(({ actions }) => actions).sort()).toEqual([...measured, ...more].sort())
      }
    }
  })

  it('let every function read the headers for traces, of the one secret that a stage may name', () => {
    const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:traces-AbCdEf'
    const traced = synthesize({ tracesSecret: arn }).service
    const reading = (of: typeof service, name: string) =>
      statementsOf(of, name).filter(({ Sid }) => Sid === 'ReadTracesSecret')
    for (const name of names) {
      expect(reading(traced, name)).toMatchObject([{ actions: ['secretsmanager:GetSecretValue'], resources: [arn] }])
      expect(reading(service, name)).toEqual([])
    }
  })

  it.each(names)('deny %s every change to the audit’s table, on any key and under any condition', (name) => {
    const statements = statementsOf(service, name)
    const onAudit = statements.filter(({ resources: of }) => text(of).includes('AuditTable'))
    const denied = onAudit.filter(({ Effect }) => Effect === 'Deny')
    expect(denied.map(({ Sid, Condition }) => [Sid, Condition])).toEqual([['AuditTableIsAppendOnly', undefined]])
    const changes = ['UpdateItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLUpdate', 'PartiQLDelete']
    const puts = name === 'audit' ? [] : ['PutItem', 'PartiQLInsert']
    expect(denied[0]?.actions).toEqual([...changes, ...puts].map((action) => `dynamodb:${action}`))
    const allowed = onAudit.flatMap(({ Effect, actions }) => (Effect === 'Allow' ? actions : []))
    const reads = ['GetItem', 'BatchGetItem', 'Query'].map((action) => `dynamodb:${action}`)
    expect(allowed.filter((action) => !reads.includes(action))).toEqual(
      name === 'audit' ? ['dynamodb:PutItem', 'dynamodb:ConditionCheckItem'] : [],
    )
  })

  it('let only the functions that make them add proofs, and none change them', () => {
    for (const { name, capabilities } of plans) {
      const statements = statementsOf(service, name)
      const unchangeable = statements.find(({ Sid }) => Sid === 'ProofsAreAppendOnly')
      const forgeries = statements.find(({ Sid }) => Sid === 'ProofsAreOthers')
      expect(forgeries?.actions).toEqual(['dynamodb:PutItem', 'dynamodb:PartiQLInsert'])
      for (const [capability, keys] of Object.entries(GUARDED_KEYS)) {
        expect(text(unchangeable?.Condition)).toContain(keys)
        expect(text(forgeries?.Condition).includes(keys)).toBe(!(capabilities as string[]).includes(capability))
      }
    }
    const other = (Sid: string) =>
      plans.flatMap(({ name }) => statementsOf(service, name).filter((one) => one.Sid === Sid))
    expect(other('ProofsAreAppendOnly')).toHaveLength(plans.length)
    const adding = (capability: string) =>
      plans.filter(({ capabilities }) => (capabilities as string[]).includes(capability)).map(({ name }) => name)
    const capable = ['keys:receipts', 'receipts:use', 'audit:record'].map(adding)
    expect(capable).toEqual([['decisions'], ['approved-tools'], ['audit']])
    const stored = [SigningKeyEntity.key({ ring: 'receipts', kid: 'k' }).pk, ReceiptUseEntity.key({ id: 'rcp_1' }).pk]
    const patterns = Object.values(GUARDED_KEYS).map((keys) => keys.replace('*', ''))
    for (const pk of stored) expect(patterns.some((start) => pk.startsWith(start))).toBe(true)
  })

  it('let one function add to the audit: 41 writers can’t take an entry from the intake, or touch a chain', () => {
    for (const name of names) {
      const statements = statementsOf(service, name)
      const put = text(statements.find(({ Sid }) => Sid === 'ProofsAreOthers')?.Condition)
      const taken = statements.find(({ Sid }) => Sid === 'ChainsAreTheRecorders')
      expect([name, put.includes('AUDIT-DAY#*')]).toEqual([name, name !== 'audit'])
      expect(text(taken?.Condition)).toBe(
        name === 'audit' ? undefined : text({ 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': RECORDERS_KEYS } }),
      )
      // Everyone's changes add to the intake.
      expect(put).not.toContain('AUDITING')
    }
    const [intake = '', chains = ''] = RECORDERS_KEYS.map((keys) => keys.replace('*', ''))
    expect(AuditIntakeEntity.key({ scope: 'platform', id: 'aud_1' }).pk.startsWith(intake)).toBe(true)
    expect(UnanchoredEntity.key({ scope: 'platform', day: '2026-11-23' }).pk.startsWith(chains)).toBe(true)
  })

  it.each(names)('give %s what the threat model says of it, and nothing else', (name) => {
    const given = statementsOf(service, name)
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap(({ actions, resources: of, Condition }) =>
        actions.flatMap((action) =>
          of.map((resource) => capabilityOf(action, text(resource), Condition !== undefined)),
        ),
      )
    expect([...new Set(given)].filter((one) => one !== UNIVERSAL).sort()).toEqual(described.get(name))
  })

  it.each(plans)('let $name read only the secrets that it declares', ({ name, capabilities }) => {
    const read = statementsOf(service, name).filter(({ actions }) => actions.includes('secretsmanager:GetSecretValue'))
    const secrets = read.flatMap(({ resources: of }) =>
      of.map(
        (resource) =>
          /(Access|Callback|Console|Staff|Data|Receipt|Card)Keys|TelegramBot|LanguageModel/.exec(text(resource))?.[0],
      ),
    )
    const known: Record<string, string> = {
      'keys:access': 'AccessKeys',
      'keys:callback': 'CallbackKeys',
      'keys:console': 'ConsoleKeys',
      'keys:staff': 'StaffKeys',
      'keys:data': 'DataKeys',
      'keys:receipts': 'ReceiptKeys',
      'keys:cards': 'CardKeys',
      bot: 'TelegramBot',
      model: 'LanguageModel',
    }
    const declared = capabilities.flatMap((capability) => known[capability] ?? [])
    expect(secrets.sort()).toEqual(declared.sort())
  })

  it.each(plans)(
    'let $name send only to the queues and the bus that it declares',
    ({ name, capabilities, workers }) => {
      const sends = statementsOf(service, name).filter(({ actions }) =>
        actions.some((action) => /SendMessage|PutEvents/.test(action)),
      )
      const declared = capabilities.filter((capability) => /^(queue|bus):/.test(capability))
      expect(sends).toHaveLength(
        declared.length + (workers.some(({ source }) => source.kind === 'stream' && source.setsAside) ? 1 : 0),
      )
    },
  )

  it.each(plans)('let $name write the table and objects only if it declares so', ({ name, capabilities }) => {
    const allowed = statementsOf(service, name).flatMap(({ Effect, actions }) => (Effect === 'Allow' ? actions : []))
    expect(allowed.includes('dynamodb:PutItem')).toBe(capabilities.includes('table:write'))
    expect(allowed.includes('dynamodb:GetItem')).toBe(capabilities.includes('table:read'))
    const reached = (action: string) => [
      ...new Set(
        statementsOf(service, name)
          .filter(({ actions }) => actions.includes(action))
          .flatMap(({ resources: of }) =>
            of.map((resource) => /([\w-]+)\/(\*|\w+"?)/.exec(text(resource))?.[0].replace(/\/\*|"/g, '')),
          ),
      ),
    ]
    const declared = (right: 'read' | 'write') => [
      ...(capabilities.includes(`objects:${right}`) ? ['payloads', 'tasks', 'manifests', 'kept'] : []),
      ...(capabilities.includes(`files:${right}`) ? ['files'] : []),
      ...(capabilities.includes(`logos:${right}`) ? ['logos'] : []),
      ...(capabilities.includes('packages:keep') ? ['packages'] : []),
      ...(right === 'read' && capabilities.includes('keys:public') ? ['public-keys'] : []),
      ...(capabilities.includes('keys:data') || (right === 'write' && capabilities.includes('keys:destroy'))
        ? ['data-keys']
        : []),
      ...SIGNING_RINGS.filter((ring) => capabilities.includes(`keys:${ring}`)).map((ring) => `public-keys/${ring}`),
      ...(capabilities.includes('audit:record') ? ['audit'] : []),
    ]
    expect(reached('s3:GetObject').sort()).toEqual(declared('read').sort())
    expect(reached('s3:PutObject').sort()).toEqual(declared('write').sort())
    const deleted = declared('write').filter((prefix) => !/^((public|data)-keys|audit|packages)/.test(prefix))
    expect(reached('s3:DeleteObject').sort()).toEqual(deleted.sort())
    // Without it, S3 reports a missing object as forbidden.
    expect(allowed.includes('s3:ListBucket')).toBe(declared('read').length > 0)
  })

  it('let only functions that serve or remove files reach the content of customers’ files', () => {
    const reaching = plans.filter(({ capabilities }) => capabilities.some((one) => one.startsWith('files:')))
    expect(reaching.map(({ name }) => name)).toEqual([
      'api-calls',
      'developer',
      'files',
      'inline-agents',
      'removals',
      'sweeper',
    ])
    expect(reaching.filter(({ capabilities }) => capabilities.includes('files:read')).map(({ name }) => name)).toEqual([
      'api-calls',
      'files',
      'sweeper',
    ])
  })

  it('let functions create a workspace’s data key but never replace it, and only its removal destroy it', () => {
    const withKeys = (...sids: string[]) =>
      plans.flatMap(({ name }) =>
        statementsOf(service, name)
          .filter(({ Sid, actions }) => sids.includes(Sid ?? '') && actions.includes('s3:PutObject'))
          .map((statement) => ({ name, ...statement })),
      )
    const creating = withKeys('CreateDataKeys')
    expect(creating.map(({ name }) => name)).toEqual(
      plans.filter(({ capabilities }) => capabilities.includes('keys:data')).map(({ name }) => name),
    )
    // S3 refuses a put without the header `If-None-Match`, which refuses to replace an object.
    for (const { Condition, actions } of creating) {
      expect(actions).toEqual(['s3:PutObject'])
      expect(Condition).toEqual({ Null: { 's3:if-none-match': 'false' } })
    }
    expect(withKeys('DestroyDataKeys').map(({ name }) => name)).toEqual(['removals'])
    const others = plans.flatMap(({ name }) =>
      statementsOf(service, name).filter(
        ({ Sid, Effect, resources: of }) =>
          Effect === 'Allow' && Sid !== 'ReadDataKeys' && text(of).includes('data-keys'),
      ),
    )
    expect(others).toHaveLength(creating.length + 1)
  })

  it('attach no policy from outside', () => {
    const roles = resources(service, 'AWS::IAM::Role').filter(([, role]) => text(role).includes('lambda.amazonaws.com'))
    expect(roles.length).toBeGreaterThanOrEqual(names.length)
    for (const [, role] of roles) expect(role.Properties.ManagedPolicyArns).toBeUndefined()
    service.resourceCountIs('AWS::IAM::Policy', 0)
  })
})
