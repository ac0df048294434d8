import { Duration, RemovalPolicy, SecretValue, Stack, type StackProps } from 'aws-cdk-lib'
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb'
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods } from 'aws-cdk-lib/aws-s3'
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { addBackup } from '../backup.ts'
import type { Config } from '../config.ts'
import { acknowledge } from '../nag.ts'

/** What keeps state, in a stack of its own: nothing that is deployed often can replace or remove it. No resource has a physical name. */
export class DataStack extends Stack {
  /** The stack's own, or the one that was restored in its place. */
  readonly table: ITable
  readonly bucket: Bucket
  readonly keyrings: Record<'tokens' | 'admin' | 'data', Secret>
  /** The secrets' ARNs for policies: the attribute, because emulators give the name for the reference. */
  readonly keyringArns: Record<'tokens' | 'admin' | 'data', string>
  /** The platform's own bot: `{token, webhook_secret}`. Its token comes from the operator (`npm run telegram`), so it is empty at first. */
  readonly telegramBot: Secret
  readonly telegramBotArn: string
  /** The language model's key: `{api_key}`, empty until the operator sets it. */
  readonly languageModel: Secret
  readonly languageModelArn: string
  /** The bucket's ARN as the other stack imports it, so that a policy with parts of the bucket in it can be read there. */
  readonly bucketArn: string

  constructor(scope: Construct, id: string, config: Config, props: StackProps = {}) {
    super(scope, id, { ...props, terminationProtection: config.retainData })
    const removalPolicy = config.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY
    const own = this.#table(config, removalPolicy)
    this.table = config.restoredTableStreamArn === undefined ? own : this.#restored(own, config.restoredTableStreamArn)
    if (config.backup) addBackup(this, this.table, removalPolicy)
    this.bucket = this.#bucket(config, removalPolicy)
    this.bucketArn = this.exportValue(this.bucket.bucketArn)
    this.keyrings = {
      tokens: this.#keyring('TokenKeys', 'Keys of access, callback, console and surface tokens', removalPolicy),
      admin: this.#keyring('AdminKeys', 'Keys of admin tokens', removalPolicy),
      data: this.#keyring('DataKeys', 'Keys of what is encrypted in the table', removalPolicy),
    }
    const arn = (secret: Secret) => (secret.node.defaultChild as CfnSecret).attrId
    const { tokens, admin, data } = this.keyrings
    this.telegramBot = this.#telegramBot(removalPolicy)
    this.telegramBotArn = arn(this.telegramBot)
    this.languageModel = this.#languageModel(removalPolicy)
    this.languageModelArn = arn(this.languageModel)
    this.keyringArns = { tokens: arn(tokens), admin: arn(admin), data: arn(data) }
  }

  #table(config: Config, removalPolicy: RemovalPolicy): Table {
    const string = (name: string) => ({ name, type: AttributeType.STRING })
    const table = new Table(this, 'Table', {
      partitionKey: string(TABLE_LAYOUT.partitionKey),
      sortKey: string(TABLE_LAYOUT.sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TABLE_LAYOUT.ttl,
      stream: StreamViewType.NEW_IMAGE,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: config.retainData,
      removalPolicy,
    })
    for (const [indexName, keys] of Object.entries(TABLE_LAYOUT.indexes)) {
      table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: string(keys.partitionKey),
        sortKey: string(keys.sortKey),
        projectionType: ProjectionType.KEYS_ONLY,
      })
    }
    return table
  }

  /**
   * The table of that stream. What the other stacks import of the stack's own stays exported: this stack is deployed before them,
   * and CloudFormation removes no export that is still imported.
   */
  #restored(own: Table, tableStreamArn: string): ITable {
    for (const value of [own.tableName, own.tableArn, own.tableStreamArn]) this.exportValue(value)
    const tableArn = tableStreamArn.slice(0, tableStreamArn.indexOf('/stream/'))
    return Table.fromTableAttributes(this, 'RestoredTable', { tableArn, tableStreamArn })
  }

  /**
   * Not versioned: objects are written once under a key of their own and never replaced, so a version would only keep what
   * retention and the customer's deletion promise to remove.
   */
  #bucket(config: Config, removalPolicy: RemovalPolicy): Bucket {
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      versioned: false,
      removalPolicy,
      // Browsers put and get files by presigned addresses, from the pages of any integration. The signature is what allows
      // it, not the page: no rule lets cookies through, and there are none.
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
        // A kept answer counts for 24 hours; days are the least that a bucket knows.
        { id: 'kept-answers', prefix: 'kept/', expiration: Duration.days(2) },
        { id: 'payloads', prefix: 'payloads/', expiration: Duration.days(config.payloadRetentionDays) },
      ],
    })
    acknowledge(bucket, {
      'AwsSolutions-S1':
        'Objects are reached through the platform, whose API logs every access; a log bucket would need one of its own.',
    })
    return bucket
  }

  /** A ring of one generated key. Rotation adds a key to the same secret and moves `current`, so that nobody is signed out. */
  #keyring(id: string, description: string, removalPolicy: RemovalPolicy): Secret {
    const secret = new Secret(this, id, {
      description,
      removalPolicy,
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ current: 'k1' }),
        generateStringKey: 'k1',
        passwordLength: 64,
        excludePunctuation: true,
      },
    })
    acknowledge(secret, {
      'AwsSolutions-SMG4':
        'A keyring is rotated by adding a key beside the old ones; replacing it on a schedule would void every token.',
    })
    return secret
  }

  /** Generated with what Telegram's calls are known by; 64 letters and digits, as `setWebhook` takes them. */
  #telegramBot(removalPolicy: RemovalPolicy): Secret {
    const secret = new Secret(this, 'TelegramBot', {
      description: 'Token and webhook secret of the platform’s bot',
      removalPolicy,
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ token: '' }),
        generateStringKey: 'webhook_secret',
        passwordLength: 64,
        excludePunctuation: true,
      },
    })
    acknowledge(secret, {
      'AwsSolutions-SMG4':
        'The token is the messaging app’s to give, and the webhook secret is known there too: the operator replaces both.',
    })
    return secret
  }
  /** Empty: the key is the provider's to give. A deployment that does not change this text leaves what the operator put there. */
  #languageModel(removalPolicy: RemovalPolicy): Secret {
    const secret = new Secret(this, 'LanguageModel', {
      description: 'Key of the language model that inline agents run on',
      removalPolicy,
      secretStringValue: SecretValue.unsafePlainText(JSON.stringify({ api_key: '' })),
    })
    acknowledge(secret, {
      'AwsSolutions-SMG4': 'The key is the model provider’s to give; the operator replaces it here.',
    })
    return secret
  }
}
