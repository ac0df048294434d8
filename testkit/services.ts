import type { DatabaseSync } from 'node:sqlite'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { S3Client } from '@aws-sdk/client-s3'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SQSClient } from '@aws-sdk/client-sqs'
import { createMetrics } from '#local/aws/cloudwatch/metrics.ts'
import { createCloudwatch } from '#local/aws/cloudwatch.ts'
import { openDatabase } from '#local/aws/database.ts'
import { createEventBridge } from '#local/aws/eventbridge.ts'
import { createMailbox } from '#local/aws/mailbox.ts'
import { LOCAL_ACCESS_KEY, LOCAL_SECRET_KEY } from '#local/aws/s3/sigv4.ts'
import { createS3 } from '#local/aws/s3.ts'
import { createSecrets } from '#local/aws/secrets.ts'
import { type AwsHook, type Services, startAwsServer } from '#local/aws/server.ts'
import { createSqs } from '#local/aws/sqs.ts'
import type { Disk } from '#local/disk.ts'
import { NO_JUMPS } from '#local/jumps.ts'
import type { BucketModel, QueueModel, RuleModel, SecretModel } from '#local/template.ts'

/** Initial content of the emulated services. */
export interface Given {
  dataDir: string
  queues?: QueueModel[]
  rules?: RuleModel[]
  secrets?: SecretModel[]
  buckets?: BucketModel[]
  /** Epoch milliseconds. */
  now?: () => number
  disk?: Pick<Disk, 'notice'>
}

export const queueModel = (name: string, given: Partial<QueueModel> = {}): QueueModel => ({
  name,
  arn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
  visibilitySeconds: 30,
  retentionSeconds: 345_600,
  delaySeconds: 0,
  redrive: undefined,
  ...given,
})

const NO_DISK = { notice: () => false }

/** Starts the services over a folder, and creates SDK clients for them. */
export const startServices = async (given: Given) => {
  const { dataDir, queues = [], rules = [], secrets = [], buckets = [], now = Date.now, disk = NO_DISK } = given
  const database: DatabaseSync = openDatabase(dataDir)
  let services: Services | undefined
  let hook: AwsHook | undefined
  const server = await startAwsServer(() => services, 0)
  const sqs = createSqs({ queues, database, address: server.address, now, onError: disk.notice, jumps: NO_JUMPS })
  const mailbox = createMailbox(now)
  services = {
    sqs,
    events: createEventBridge({ buses: ['default', 'bus'], rules, sqs }),
    monitoring: createCloudwatch({ alarms: [], metrics: createMetrics() }),
    secretsmanager: createSecrets(secrets, database, now),
    s3: createS3({ buckets, database, dataDir, now }),
    mailbox,
    connections: () => false,
    dynamodb: 'http://127.0.0.1:1',
    disk,
    hook: () => hook,
  }
  const config = {
    endpoint: server.address,
    region: 'us-east-1',
    credentials: { accessKeyId: LOCAL_ACCESS_KEY, secretAccessKey: LOCAL_SECRET_KEY },
    maxAttempts: 1,
  }
  return {
    address: server.address,
    database,
    mailbox,
    sqs: new SQSClient(config),
    events: new EventBridgeClient(config),
    secrets: new SecretsManagerClient(config),
    s3: new S3Client(config),
    config,
    urlOf: sqs.urlOf,
    onAwsCall: (given: AwsHook | undefined) => {
      hook = given
    },
    stop: async () => {
      sqs.stop()
      await server.stop()
      database.close()
    },
  }
}
