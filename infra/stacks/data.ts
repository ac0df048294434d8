import { CfnOutput, Duration, Fn, RemovalPolicy, SecretValue, Stack, type StackProps } from 'aws-cdk-lib'
import {
  AttributeType,
  BillingMode,
  type GlobalSecondaryIndexProps,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb'
import { BlockPublicAccess, Bucket, HttpMethods, ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import { type CfnSecret, Secret, type SecretProps } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { RING_NAMES, type RingName } from '#shared/kernel/ports/keys.ts'
import { AUDIT_INDEXES, type IndexName, TABLE_LAYOUT } from '#shared/table/layout.ts'
import { addBackup, KEPT } from '../backup.ts'
import { logAccess } from '../bucket-logs.ts'
import { capacityProps, indexCapacityProps, scaleCapacity } from '../capacity.ts'
import type { Config } from '../config.ts'
import { bucketEncryption, encryption, tableEncryption } from '../encryption.ts'
import { acknowledge } from '../nag.ts'
import { retention } from '../retention.ts'

/** NIST's rule about copies of a bucket in another region. */
const REPLICATION = 'NIST.800.53.R5-S3BucketReplicationEnabled'

/** Retention and encryption of secrets. */
type Kept = Pick<SecretProps, 'removalPolicy' | 'encryptionKey'>

/** Stack of everything with state, so that frequent deployments can't replace or remove it. No resource has a physical name. */
export class DataStack extends Stack {
  /** The stack's own table, or the restored one that replaces it. */
  readonly table: ITable
  /** Table of the audit, or the restored one that replaces it. Only the recorder may add to it, and no function may change it. */
  readonly auditTable: ITable
  readonly bucket: Bucket
  /** Bucket of the workspaces' data keys, apart from backups and versions. A key that was destroyed there is gone. */
  readonly keyBucket: Bucket
  /** Bucket with the anchors of the audit: one with object lock if the stage has it, otherwise the same one. */
  readonly auditBucket: Bucket
  readonly auditBucketArn: string
  readonly keyrings: Record<RingName, Secret>
  /** ARNs of the secrets for policies. These are attributes, because emulators resolve references to names. */
  readonly keyringArns: Record<RingName, string>
  /** Secret of the platform's bot: `{token, webhook_secret}`. The token is empty until the operator sets it (`npm run telegram`). */
  readonly telegramBot: Secret
  readonly telegramBotArn: string
  /** Secret of the language model, if the stage has one: `{api_key}`, empty until the operator sets it. */
  readonly languageModel: Secret | undefined
  readonly languageModelArn: string | undefined
  /** ARN of the bucket as the other stacks read it, so that policies with parts of the bucket name it when they are checked. */
  readonly bucketArn: string
  readonly keyBucketArn: string

  constructor(scope: Construct, id: string, config: Config, props: StackProps = {}) {
    super(scope, id, { ...props, terminationProtection: config.retainData })
    const removalPolicy = retention(config)
    const own = this.#table(config)
    this.table = config.restoredTableStreamArn === undefined ? own : this.#restored(config.restoredTableStreamArn)
    const ownAudit = this.#auditTable(config)
    this.auditTable =
      config.restoredAuditTableArn === undefined
        ? ownAudit
        : Table.fromTableArn(this, 'RestoredAuditTable', config.restoredAuditTableArn)
    for (const [table, used] of [
      [own, this.table],
      [ownAudit, this.auditTable],
    ] as const)
      if (used !== table) acknowledge(table, { 'NIST.800.53.R5-DynamoDBInBackupPlan': 'A restored table replaces it.' })
    this.bucket = this.#bucket(config, removalPolicy)
    this.bucketArn = this.#asRead('BucketArn', this.bucket.bucketArn)
    this.keyBucket = this.#keyBucket(config, removalPolicy)
    this.keyBucketArn = this.#asRead('KeyBucketArn', this.keyBucket.bucketArn)
    if (config.backup) {
      addBackup(
        this,
        { tables: [this.table, this.auditTable], buckets: [this.bucket] },
        { removalPolicy, copyTo: config.backupCopyVaultArn },
      )
    }
    const { auditLockDays } = config
    const locked = auditLockDays === undefined ? undefined : this.#lockedBucket(config, auditLockDays)
    this.auditBucket = locked ?? this.bucket
    logAccess(
      this,
      { objects: this.bucket, keys: this.keyBucket, ...(locked && { audit: locked }) },
      { days: config.logRetentionDays, removalPolicy },
    )
    this.auditBucketArn = locked ? this.#asRead('AuditBucketArn', locked.bucketArn) : this.bucketArn
    const secret = { removalPolicy, ...encryption(this, config) }
    this.keyrings = {
      access: this.#keyring('AccessKeys', 'Keys that sign access tokens', secret),
      callback: this.#keyring('CallbackKeys', 'Keys that sign callback tokens', secret),
      console: this.#keyring('ConsoleKeys', 'Keys that sign console and surface tokens', secret),
      staff: this.#keyring('StaffKeys', 'Keys that sign admin tokens', secret),
      data: this.#keyring('DataKeys', 'Keys of encrypted values in the table', secret),
      receipts: this.#keyring('ReceiptKeys', 'Keys that sign receipts of people’s decisions', secret),
      cards: this.#keyring('CardKeys', 'Keys that sign A2A cards of agents', secret),
    }
    const arn = ({ node }: Secret) => (node.defaultChild as CfnSecret).attrId
    this.telegramBot = this.#telegramBot(secret)
    this.telegramBotArn = arn(this.telegramBot)
    // The local run receives its model's address when it starts, after its templates are made.
    const mayHaveModel = config.modelApiUrl !== undefined || config.stage === 'local'
    this.languageModel = mayHaveModel ? this.#languageModel(secret) : undefined
    this.languageModelArn = this.languageModel && arn(this.languageModel)
    this.keyringArns = perRing((ring) => arn(this.keyrings[ring]))
  }

  /** Returns a value in the form in which other stacks read it. */
  #asRead(name: string, value: string): string {
    return Fn.getStackOutput(this.stackName, new CfnOutput(this, name, { value }).logicalId)
  }

  #table(config: Config): Table {
    const table = new Table(this, 'Table', {
      ...tableProps(config),
      ...tableEncryption(this, config),
      ...capacityProps(config),
      stream: StreamViewType.NEW_IMAGE,
    })
    const indexes = Object.keys(TABLE_LAYOUT.indexes) as IndexName[]
    addIndexes(table, indexes, indexCapacityProps(config))
    scaleCapacity(table, indexes, config)
    return table
  }

  /** Creates the audit's table, which has the same layout. Nothing in it is ever due, and nothing reads a stream of it. */
  #auditTable(config: Config): Table {
    const table = new Table(this, 'AuditTable', { ...tableProps(config), ...tableEncryption(this, config) })
    addIndexes(table, AUDIT_INDEXES)
    return table
  }

  /** Returns the table of the stream. */
  #restored(tableStreamArn: string): ITable {
    const tableArn = tableStreamArn.slice(0, tableStreamArn.indexOf('/stream/'))
    return Table.fromTableAttributes(this, 'RestoredTable', { tableArn, tableStreamArn })
  }

  /**
   * Creates the bucket. Objects are written once under unique keys and never replaced, so its versions are those that were deleted.
   * They are kept as long as the table can be restored to a time when they existed.
   */
  #bucket(config: Config, removalPolicy: RemovalPolicy): Bucket {
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      ...bucketEncryption(this, config),
      enforceSSL: true,
      versioned: true,
      removalPolicy,
      // Browsers put and get files through presigned addresses, from pages of any integration. The signature authorizes the request,
      // not the page, and there are no cookies.
      cors: [
        {
          allowedMethods: [HttpMethods.PUT, HttpMethods.GET],
          allowedOrigins: ['*'],
          allowedHeaders: ['content-type', 'if-none-match'],
          exposedHeaders: ['ETag'],
          maxAge: Duration.hours(1).toSeconds(),
        },
      ],
      lifecycleRules: [
        { id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        { id: 'deleted-objects', noncurrentVersionExpiration: KEPT, expiredObjectDeleteMarker: true },
        // A stored answer is valid for 24 hours. Lifecycle rules count in days.
        {
          id: 'kept-answers',
          prefix: 'kept/',
          expiration: Duration.days(2),
          noncurrentVersionExpiration: Duration.days(1),
        },
        { id: 'payloads', prefix: 'payloads/', expiration: Duration.days(config.payloadRetentionDays) },
      ],
    })
    acknowledge(bucket, {
      [REPLICATION]:
        'Deleted objects stay as versions. Copies in another region are those of the backups (backupCopyVaultArn).',
    })
    return bucket
  }

  /** Creates the bucket of the workspaces' data keys. Versions or backups would keep keys that a removal has to destroy. */
  #keyBucket(config: Config, removalPolicy: RemovalPolicy): Bucket {
    const bucket = new Bucket(this, 'KeyBucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      ...bucketEncryption(this, config),
      enforceSSL: true,
      versioned: false,
      removalPolicy,
    })
    const destroyed = 'A copy or a version would keep keys that a removal has to destroy.'
    acknowledge(bucket, { [REPLICATION]: destroyed, 'NIST.800.53.R5-S3BucketVersioningEnabled': destroyed })
    return bucket
  }

  /** Creates the bucket for anchors of the audit, which no one can delete or replace before their time, AWS's root user included. */
  #lockedBucket(config: Config, days: number): Bucket {
    const bucket = new Bucket(this, 'AuditBucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      ...bucketEncryption(this, config),
      enforceSSL: true,
      versioned: true,
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.compliance(Duration.days(days)),
      // It can't be emptied, so it can't be deleted.
      removalPolicy: RemovalPolicy.RETAIN,
    })
    acknowledge(bucket, { [REPLICATION]: 'Nobody can delete or replace an anchor before its time.' })
    return bucket
  }

  /** Creates a keyring with one generated key. Rotation adds a key to the secret and moves `current`, so no one is signed out. */
  #keyring(id: string, description: string, kept: Kept): Secret {
    const secret = new Secret(this, id, {
      ...kept,
      description,
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ current: 'k1' }),
        generateStringKey: 'k1',
        passwordLength: 64,
        excludePunctuation: true,
      },
    })
    acknowledge(secret, {
      'AwsSolutions-SMG4':
        'A keyring is rotated by adding a key to the old ones. Replacing it on a schedule would invalidate every token.',
    })
    return secret
  }

  /** Creates the bot's secret with a generated webhook secret of 64 letters and digits, as `setWebhook` accepts them. */
  #telegramBot(kept: Kept): Secret {
    const secret = new Secret(this, 'TelegramBot', {
      ...kept,
      description: 'Token and webhook secret of the platform’s bot',
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ token: '' }),
        generateStringKey: 'webhook_secret',
        passwordLength: 64,
        excludePunctuation: true,
      },
    })
    acknowledge(secret, {
      'AwsSolutions-SMG4': 'Telegram issues the token and knows the webhook secret, so the operator replaces both.',
    })
    return secret
  }
  /** Creates an empty secret for the provider's key. Deployments keep the operator's value unless this text changes. */
  #languageModel(kept: Kept): Secret {
    const secret = new Secret(this, 'LanguageModel', {
      ...kept,
      description: 'Key of the language model behind inline agents',
      secretStringValue: SecretValue.unsafePlainText(JSON.stringify({ api_key: '' })),
    })
    acknowledge(secret, {
      'AwsSolutions-SMG4': 'The model provider issues the key, and the operator replaces it here.',
    })
    return secret
  }
}

const string = (name: string) => ({ name, type: AttributeType.STRING })

const tableProps = ({ retainData }: Config) => ({
  partitionKey: string(TABLE_LAYOUT.partitionKey),
  sortKey: string(TABLE_LAYOUT.sortKey),
  billingMode: BillingMode.PAY_PER_REQUEST,
  timeToLiveAttribute: TABLE_LAYOUT.ttl,
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  deletionProtection: retainData,
  // Its protection would refuse a rollback that deletes it.
  removalPolicy: retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
})

const addIndexes = (
  table: Table,
  indexes: readonly IndexName[],
  capacity: Partial<GlobalSecondaryIndexProps> = {},
): void => {
  for (const indexName of indexes) {
    const keys = TABLE_LAYOUT.indexes[indexName]
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: string(keys.partitionKey),
      sortKey: string(keys.sortKey),
      projectionType: ProjectionType.KEYS_ONLY,
      ...capacity,
    })
  }
}

const perRing = <T>(read: (ring: RingName) => T): Record<RingName, T> =>
  Object.fromEntries(RING_NAMES.map((ring) => [ring, read(ring)])) as Record<RingName, T>
