import { Stack } from 'aws-cdk-lib'
import { TableEncryption, type TableProps } from 'aws-cdk-lib/aws-dynamodb'
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3'
import { QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { Config } from './config.ts'

type Encrypted = Pick<Config, 'kmsKeyArn'>

/** Returns the operator's key as a construct of the stack, if the stage has one. */
const keyIn = (scope: Construct, { kmsKeyArn }: Encrypted): IKey | undefined => {
  if (kmsKeyArn === undefined) return undefined
  const stack = Stack.of(scope)
  return (stack.node.tryFindChild('KmsKey') as IKey | undefined) ?? Key.fromKeyArn(stack, 'KmsKey', kmsKeyArn)
}

/** Encrypts a log group or a secret with the operator's key. Without one, AWS uses a key of its own. */
export const encryption = (scope: Construct, config: Encrypted): { encryptionKey?: IKey } => {
  const encryptionKey = keyIn(scope, config)
  return encryptionKey === undefined ? {} : { encryptionKey }
}

export const tableEncryption = (
  scope: Construct,
  config: Encrypted,
): Pick<TableProps, 'encryption' | 'encryptionKey'> => {
  const encryptionKey = keyIn(scope, config)
  return encryptionKey === undefined ? {} : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }
}

export const bucketEncryption = (scope: Construct, config: Encrypted): BucketProps => {
  const encryptionKey = keyIn(scope, config)
  if (encryptionKey === undefined) return { encryption: BucketEncryption.S3_MANAGED }
  // With a key of the bucket, S3 asks KMS for few of the objects.
  return { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }
}

export const queueEncryption = (scope: Construct, config: Encrypted): QueueProps => {
  const encryptionMasterKey = keyIn(scope, config)
  return encryptionMasterKey === undefined
    ? { encryption: QueueEncryption.SQS_MANAGED }
    : { encryption: QueueEncryption.KMS, encryptionMasterKey }
}

const DECRYPT = ['kms:Decrypt']

/** Actions on the key that a service takes for the caller of an action. Actions without contents need none. */
const KEY_ACTIONS: Record<string, readonly string[]> = {
  // DynamoDB decrypts the table's key for its callers, those that write included.
  ...Object.fromEntries(
    ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem', 'GetRecords'].map(
      (action) => [`dynamodb:${action}`, DECRYPT],
    ),
  ),
  's3:GetObject': DECRYPT,
  's3:PutObject': ['kms:GenerateDataKey'],
  'sqs:SendMessage': ['kms:Decrypt', 'kms:GenerateDataKey'],
  'sqs:ReceiveMessage': DECRYPT,
  'secretsmanager:GetSecretValue': DECRYPT,
}

/**
 * Derives what a role needs of the operator's key from what it may do. Each right holds only for requests of the service whose
 * data the role reaches, so that the role can't use the key by itself.
 */
export const keyRights = (
  scope: Construct,
  statements: readonly PolicyStatement[],
  { kmsKeyArn }: Encrypted,
): PolicyStatement[] => {
  if (kmsKeyArn === undefined) return []
  const { region, urlSuffix } = Stack.of(scope)
  const needed = new Map<string, Set<string>>()
  for (const action of statements.flatMap(({ effect, actions }) => (effect === Effect.ALLOW ? actions : []))) {
    const [service = ''] = action.split(':')
    for (const right of KEY_ACTIONS[action] ?? []) needed.set(service, (needed.get(service) ?? new Set()).add(right))
  }
  return [...needed].sort().map(
    ([service, actions]) =>
      new PolicyStatement({
        sid: `UseKeyFor${service}`,
        actions: [...actions].sort(),
        resources: [kmsKeyArn],
        conditions: { StringEquals: { 'kms:ViaService': `${service}.${region}.${urlSuffix}` } },
      }),
  )
}
