import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Capability } from '#shared/kernel/capabilities.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'

/** The ARNs that grants are given on. */
export type Resources = {
  table: string
  stream: string
  bucket: string
  bus: string
  keyrings: Record<'tokens' | 'admin' | 'data', string>
  telegramBot: string
  languageModel: string
  queues: Record<QueueName, string>
}

/** The parts of the bucket that functions reach: what runs took and gave, tasks' results, manifests, and answers kept for a repeated request. */
const objectPrefixes = ['payloads', 'tasks', 'manifests', 'kept']

/** What customers' files are under. */
const filePrefix = 'files'

/** Partition keys of the audit, which nobody changes or removes. */
export const AUDIT_KEYS = 'AUDIT#*'

const allow = (sid: string, actions: string[], resources: string[]) => new PolicyStatement({ sid, actions, resources })

/**
 * Exactly what a capability comes to. Scan is in none of them: no read may grow with the table. Batches of writes are in none
 * either: they take no condition, and the platform's writes are transactions.
 */
function grant(capability: Capability, to: Resources): PolicyStatement {
  const objects = objectPrefixes.map((prefix) => `${to.bucket}/${prefix}/*`)
  const files = `${to.bucket}/${filePrefix}/*`
  switch (capability) {
    case 'table:read':
      return allow(
        'ReadTable',
        ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
        [to.table, ...Object.keys(TABLE_LAYOUT.indexes).map((index) => `${to.table}/index/${index}`)],
      )
    case 'table:write':
      // A transaction needs the permission of each action in it, and none of its own.
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
    case 'keys:tokens':
    case 'keys:admin':
    case 'keys:data': {
      const ring = capability.slice('keys:'.length) as keyof Resources['keyrings']
      return allow(`ReadKeys${ring}`, ['secretsmanager:GetSecretValue'], [to.keyrings[ring]])
    }
    case 'bot':
      return allow('ReadTelegramBot', ['secretsmanager:GetSecretValue'], [to.telegramBot])
    case 'model':
      return allow('ReadLanguageModel', ['secretsmanager:GetSecretValue'], [to.languageModel])
    case 'metrics:read':
      return allow('ReadMetrics', ['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'], ['*'])
    case 'bus:put':
      return allow('PutEvents', ['events:PutEvents'], [to.bus])
    default: {
      const queue = capability.slice('queue:'.length) as QueueName
      return allow(`SendTo${queue.replaceAll('-', '')}`, ['sqs:SendMessage'], [to.queues[queue]])
    }
  }
}

/** Why a statement's resources have a wildcard, by the statement's name. One without a reason here fails the checks at synth. */
export const WILDCARDS: Record<string, string> = {
  ReadObjects: 'The names of objects are made at run time; the prefixes bound them.',
  WriteObjects: 'The names of objects are made at run time; the prefixes bound them.',
  ReadFiles: 'The names of objects are made at run time; the prefix bounds them.',
  WriteFiles: 'The names of objects are made at run time; the prefix bounds them.',
  ReadMetrics: 'CloudWatch has no resources for what is measured; the alarms are told apart by their names.',
  WriteLogs: 'Lambda names the streams of the function’s own log group.',
  WriteTraces: 'X-Ray has no resources that a policy could name.',
}

/** What a function's event source needs beside the declared capabilities. */
export type Source = { kind: 'stream'; failures: string } | { kind: 'queue'; queue: string } | { kind: 'none' }

/** Everything that one function's role may do. */
export function permissions(
  capabilities: Capability[],
  to: Resources,
  source: Source,
  { logGroup, traced }: { logGroup: string; traced: boolean },
): PolicyStatement[] {
  const statements = capabilities.map((capability) => grant(capability, to))
  if (capabilities.includes('objects:read') || capabilities.includes('files:read')) {
    // Without it S3 answers 403, not 404, for an object that its lifecycle has removed.
    statements.push(allow('TellMissingObjects', ['s3:ListBucket'], [to.bucket]))
  }
  if (source.kind === 'stream') {
    statements.push(
      allow(
        'ReadStream',
        ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
        [to.stream],
      ),
      allow('KeepFailures', ['sqs:SendMessage'], [source.failures]),
    )
  }
  if (source.kind === 'queue') {
    statements.push(
      allow('Receive', ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], [source.queue]),
    )
  }
  statements.push(
    allow('WriteLogs', ['logs:CreateLogStream', 'logs:PutLogEvents'], [`${logGroup}:*`]),
    ...(traced ? [allow('WriteTraces', ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*'])] : []),
    denyAuditChanges(to.table),
  )
  return statements
}

/**
 * The audit is append-only: no role may change or remove an entry, whatever else it may do. IAM cannot demand a condition in a
 * put, so that a put never replaces an entry is the code's part (`attribute_not_exists`).
 */
function denyAuditChanges(table: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'AuditIsAppendOnly',
    effect: Effect.DENY,
    actions: [
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:BatchWriteItem',
      'dynamodb:PartiQLUpdate',
      'dynamodb:PartiQLDelete',
    ],
    resources: [table],
    conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [AUDIT_KEYS] } },
  })
}
