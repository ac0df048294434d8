import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { DATA_KEYS_PREFIX, PUBLIC_KEYS_PREFIX, type RingName, SIGNING_RINGS } from '#shared/kernel/ports/keys.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { ANCHOR_PREFIX } from '#shared/staff/audit/index.ts'
import { AUDIT_INDEXES, TABLE_LAYOUT } from '#shared/table/layout.ts'

/** ARNs of the resources that permissions refer to. */
export type Resources = {
  table: string
  /** Table of the audit. */
  auditTable: string
  stream: string
  bucket: string
  /** Bucket of the workspaces' data keys. */
  keyBucket: string
  /** Bucket with the anchors of the audit. */
  auditBucket: string
  bus: string
  keyrings: Record<RingName, string>
  telegramBot: string
  /** Absent if the stage has no language model. */
  languageModel: string | undefined
  /** E-mail addresses and domains that are verified in SES, and the sender. */
  mail: { identities: string; from: string }
  queues: Record<QueueName, string>
  /** Connections of open pages, by action. Empty if the stage has none. */
  connections: string[]
  /** Permissions may have conditions on headers of a request. */
  conditionKeys: boolean
}

/** Parts of the bucket that functions reach: inputs and outputs of runs, results of tasks, manifests, and stored answers. */
const objectPrefixes = ['payloads', 'tasks', 'manifests', 'kept']

/** Prefix of logos. */
const logoPrefix = 'logos'

/** Prefix of packages for developers. */
const packagePrefix = 'packages'

/** Prefix of customers' files. */
const filePrefix = 'files'

/** Capabilities on keys that are stored in the bucket. */
const keyObjects: readonly string[] = [
  'keys:public',
  'keys:data',
  'keys:destroy',
  ...SIGNING_RINGS.map((ring) => `keys:${ring}`),
]

/** Returns true if the capability reads keys from the bucket. */
export const readsKeyObjects = (capability: Capability): boolean => keyObjects.includes(capability)

/** Returns true if the capability reads, creates or destroys workspaces' data keys. */
export const usesDataKeys = (capability: Capability): boolean =>
  capability === 'keys:data' || capability === 'keys:destroy'

/**
 * Partition keys of append-only records that only functions with one capability may write. They prove what others did, so that a
 * function which can write the rest of the table can't forge them.
 */
export const GUARDED_KEYS = {
  /** Published keys that verify receipts. */
  'keys:receipts': 'SIGNING-KEYS#receipts',
  /** Published keys that verify A2A cards. */
  'keys:cards': 'SIGNING-KEYS#cards',
  /** Marks of used receipts. */
  'receipts:use': 'RECEIPT#*',
} as const satisfies Partial<Record<Capability, string>>

/**
 * Partition keys of the audit's own records: the intake, to which every writer adds and from which only the recorder takes, and the
 * state of the chains.
 */
export const RECORDERS_KEYS = ['AUDITING#*', 'AUDIT-DAY#*']

/** Capabilities that add no permission: they choose a client to bundle, or lift a denial. */
type Marker = 'outgoing' | 'receipts:use' | 'bucket:name' | 'sockets:address'

const isMarker = (capability: Capability): capability is Marker =>
  capability === 'outgoing' ||
  capability === 'receipts:use' ||
  capability === 'bucket:name' ||
  capability === 'sockets:address'

const allow = (sid: string, actions: string[], resources: string[]) => new PolicyStatement({ sid, actions, resources })

/** Allows to create objects, but not to replace them: the header makes S3 refuse that. */
const creating = (sid: string, resources: string[], { conditionKeys }: Resources): PolicyStatement => {
  const create = allow(sid, ['s3:PutObject'], resources)
  if (conditionKeys) create.addCondition('Null', { 's3:if-none-match': 'false' })
  return create
}

/**
 * Returns the exact permissions of a capability. None includes Scan, because no read may grow with the table. None includes batch
 * writes, because they take no conditions and the platform's writes are transactions.
 */
function grant(capability: Exclude<Capability, Marker>, to: Resources): PolicyStatement | PolicyStatement[] {
  const objects = objectPrefixes.map((prefix) => `${to.bucket}/${prefix}/*`)
  const files = `${to.bucket}/${filePrefix}/*`
  const dataKeys = `${to.keyBucket}/${DATA_KEYS_PREFIX}/*`
  switch (capability) {
    case 'table:read':
      return allow(
        'ReadTable',
        ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
        [
          ...[to.table, ...Object.keys(TABLE_LAYOUT.indexes).map((index) => `${to.table}/index/${index}`)],
          ...[to.auditTable, ...AUDIT_INDEXES.map((index) => `${to.auditTable}/index/${index}`)],
        ],
      )
    case 'table:write':
      // A transaction needs the permissions of its actions and no other.
      return allow(
        'WriteTable',
        ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:ConditionCheckItem'],
        [to.table],
      )
    case 'objects:read':
      return allow('ReadObjects', ['s3:GetObject'], objects)
    case 'objects:write':
      return allow('WriteObjects', ['s3:PutObject', 's3:DeleteObject'], objects)
    case 'files:read':
      return allow('ReadFiles', ['s3:GetObject'], [files])
    case 'files:write':
      return allow('WriteFiles', ['s3:PutObject', 's3:DeleteObject'], [files])
    case 'logos:read':
      return allow('ReadLogos', ['s3:GetObject'], [`${to.bucket}/${logoPrefix}/*`])
    case 'logos:write':
      return allow('WriteLogos', ['s3:PutObject', 's3:DeleteObject'], [`${to.bucket}/${logoPrefix}/*`])
    case 'packages:keep': {
      const packages = [`${to.bucket}/${packagePrefix}/*`]
      return [allow('ReadPackages', ['s3:GetObject'], packages), creating('KeepPackages', packages, to)]
    }
    case 'keys:receipts':
    case 'keys:cards': {
      const ring = capability.slice('keys:'.length) as RingName
      return allow(`ReadKeys${ring}`, ['secretsmanager:GetSecretValue'], [to.keyrings[ring]])
    }
    case 'keys:data':
      return [
        allow('ReadKeysdata', ['secretsmanager:GetSecretValue'], [to.keyrings.data]),
        allow('ReadDataKeys', ['s3:GetObject'], [dataKeys]),
        creating('CreateDataKeys', [dataKeys], to),
      ]
    case 'keys:destroy':
      return allow('DestroyDataKeys', ['s3:PutObject'], [dataKeys])
    case 'keys:public':
      return allow('ReadPublicKeys', ['s3:GetObject'], [`${to.bucket}/${PUBLIC_KEYS_PREFIX}/*`])
    case 'keys:access':
    case 'keys:callback':
    case 'keys:console':
    case 'keys:staff': {
      const ring = capability.slice('keys:'.length) as RingName
      return [
        allow(`ReadKeys${ring}`, ['secretsmanager:GetSecretValue'], [to.keyrings[ring]]),
        allow(`PublishKeys${ring}`, ['s3:GetObject', 's3:PutObject'], [`${to.bucket}/${PUBLIC_KEYS_PREFIX}/${ring}`]),
      ]
    }
    case 'bot':
      return allow('ReadTelegramBot', ['secretsmanager:GetSecretValue'], [to.telegramBot])
    case 'model':
      return to.languageModel === undefined
        ? []
        : allow('ReadLanguageModel', ['secretsmanager:GetSecretValue'], [to.languageModel])
    case 'audit:record':
      return [
        allow('RecordAudit', ['dynamodb:PutItem', 'dynamodb:ConditionCheckItem'], [to.auditTable]),
        allow('AnchorAudit', ['s3:PutObject', 's3:GetObject'], [`${to.auditBucket}/${ANCHOR_PREFIX}/*`]),
      ]
    case 'mail':
      return new PolicyStatement({
        sid: 'SendMail',
        actions: ['ses:SendEmail'],
        resources: [to.mail.identities],
        conditions: { StringEquals: { 'ses:FromAddress': to.mail.from } },
      })
    case 'metrics:read':
      return allow('ReadMetrics', ['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'], ['*'])
    case 'sockets':
      return to.connections.length === 0
        ? []
        : allow('ManageConnections', ['execute-api:ManageConnections'], to.connections)
    case 'bus:put':
      return allow('PutEvents', ['events:PutEvents'], [to.bus])
    default: {
      const queue = capability.slice('queue:'.length) as QueueName
      return allow(`SendTo${queue.replaceAll('-', '')}`, ['sqs:SendMessage'], [to.queues[queue]])
    }
  }
}

/** Reasons for wildcards in a statement's resources, by the statement's name. A wildcard without a reason fails at synth. */
export const WILDCARDS: Record<string, string> = {
  ReadObjects: 'Names of objects are created at run time, within these prefixes.',
  WriteObjects: 'Names of objects are created at run time, within these prefixes.',
  ReadFiles: 'Names of objects are created at run time, within this prefix.',
  WriteFiles: 'Names of objects are created at run time, within this prefix.',
  ReadLogos: 'One object per fetched image.',
  WriteLogos: 'One object per fetched image.',
  ReadPackages: 'Names of objects are digests of their content, within this prefix.',
  KeepPackages: 'Names of objects are digests of their content, within this prefix. None is ever replaced.',
  ReadDataKeys: 'One object per workspace, wrapped by the ring that the function declares.',
  CreateDataKeys: 'One object per workspace, which is never replaced.',
  DestroyDataKeys: 'One object per workspace.',
  ReadPublicKeys: 'One object per ring, all of them public.',
  AnchorAudit: 'Names of anchors are created at run time, within this prefix.',
  ReadMetrics: 'CloudWatch has no resources for metrics. The alarms are distinguished by name.',
  ManageConnections: 'API Gateway names connections when they are made, within this API and for these actions.',
  SendMail: 'The sender is verified as an address or as its domain. The condition names the address.',
  WriteLogs: 'Lambda names the streams of the function’s own log group.',
  WriteTraces: 'X-Ray has no resources that a policy could name.',
}

/** Event source that the function polls. It needs permissions in addition to the declared capabilities. */
export type Source = { kind: 'stream'; failures: string | undefined } | { kind: 'queue'; queue: string }

/** Builds all statements of a function's role. */
export function permissions(
  capabilities: Capability[],
  to: Resources,
  sources: Source[],
  { logGroup, traced, tracesSecret }: { logGroup: string; traced: boolean; tracesSecret: string | undefined },
): PolicyStatement[] {
  const statements = capabilities.flatMap((capability) => (isMarker(capability) ? [] : grant(capability, to)))
  const reads = (one: Capability) =>
    one === 'objects:read' ||
    one === 'files:read' ||
    one === 'logos:read' ||
    one === 'packages:keep' ||
    one === 'audit:record' ||
    readsKeyObjects(one)
  if (capabilities.some(reads)) {
    // Without it, S3 answers 403 instead of 404 for an object that its lifecycle rule removed.
    const bucket = capabilities.includes('audit:record') ? to.auditBucket : to.bucket
    const keys = capabilities.some(usesDataKeys) ? [to.keyBucket] : []
    statements.push(allow('TellMissingObjects', ['s3:ListBucket'], [bucket, ...keys]))
  }
  for (const source of sources) {
    if (source.kind === 'queue') continue
    statements.push(
      allow(
        'ReadStream',
        ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
        [to.stream],
      ),
      ...(source.failures === undefined ? [] : [allow('KeepFailures', ['sqs:SendMessage'], [source.failures])]),
    )
  }
  const queues = sources.flatMap((source) => (source.kind === 'queue' ? [source.queue] : []))
  if (queues.length > 0) {
    statements.push(allow('Receive', ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], queues))
  }
  statements.push(
    allow('WriteLogs', ['logs:CreateLogStream', 'logs:PutLogEvents'], [`${logGroup}:*`]),
    ...(tracesSecret === undefined
      ? []
      : [allow('ReadTracesSecret', ['secretsmanager:GetSecretValue'], [tracesSecret])]),
    ...(traced ? [allow('WriteTraces', ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*'])] : []),
    denyAuditTable(capabilities, to.auditTable),
    denyProofChanges(to.table),
    denyForgery(capabilities, to.table),
    ...(capabilities.includes('audit:record') ? [] : [denyRecording(to.table)]),
  )
  return statements
}

/** Actions that change or remove what is in the table. */
const CHANGES = [
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:BatchWriteItem',
  'dynamodb:PartiQLUpdate',
  'dynamodb:PartiQLDelete',
]

/**
 * Makes the audit's table append-only, without a condition: no role may change or delete anything in it, and only the recorder may put
 * into it. IAM can't demand `attribute_not_exists` on a put, so the recorder's code does, and the hash chain shows if it didn't.
 */
function denyAuditTable(capabilities: Capability[], auditTable: string): PolicyStatement {
  const puts = capabilities.includes('audit:record') ? [] : ['dynamodb:PutItem', 'dynamodb:PartiQLInsert']
  return new PolicyStatement({
    sid: 'AuditTableIsAppendOnly',
    effect: Effect.DENY,
    actions: [...CHANGES, ...puts],
    resources: [auditTable],
  })
}

/**
 * Makes other proofs append-only: no role may change or delete one. IAM can't demand a condition on a put, so only one function may put
 * any, and its code never replaces one (`attribute_not_exists`).
 */
function denyProofChanges(table: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'ProofsAreAppendOnly',
    effect: Effect.DENY,
    actions: CHANGES,
    resources: [table],
    conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': Object.values(GUARDED_KEYS) } },
  })
}

/** Denies a role to add records that only other functions may add. */
function denyForgery(capabilities: Capability[], table: string): PolicyStatement {
  const others = Object.entries(GUARDED_KEYS).flatMap(([capability, keys]) =>
    capabilities.includes(capability as Capability) ? [] : [keys],
  )
  // Every writer adds to the intake.
  const chains = capabilities.includes('audit:record') ? [] : [RECORDERS_KEYS[1] as string]
  return new PolicyStatement({
    sid: 'ProofsAreOthers',
    effect: Effect.DENY,
    actions: ['dynamodb:PutItem', 'dynamodb:PartiQLInsert'],
    resources: [table],
    conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [...others, ...chains] } },
  })
}

/** Denies a role to take entries out of the audit's intake, and to change the state of its chains. */
function denyRecording(table: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'ChainsAreTheRecorders',
    effect: Effect.DENY,
    actions: CHANGES,
    resources: [table],
    conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': RECORDERS_KEYS } },
  })
}
