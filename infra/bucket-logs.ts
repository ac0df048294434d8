import { Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { acknowledge } from './nag.ts'

/**
 * Logs every access to buckets by anyone. The API's log knows of the requests that went through the platform only, and neither
 * of presigned addresses nor of operators.
 */
export function logAccess(
  scope: Construct,
  buckets: Readonly<Record<string, Bucket>>,
  { days, removalPolicy }: { days: number; removalPolicy: RemovalPolicy },
): void {
  const logs = new Bucket(scope, 'BucketLogs', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    // S3 can't deliver access logs to a bucket with a key of KMS.
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    removalPolicy,
    lifecycleRules: [{ id: 'access-logs', expiration: Duration.days(days) }],
  })
  acknowledge(logs, {
    'AwsSolutions-S1': 'Receives the logs of the other buckets. Logging it would log each delivery.',
    'NIST.800.53.R5-S3BucketReplicationEnabled': 'S3 writes each log once, and nothing is restored from them.',
    'NIST.800.53.R5-S3BucketVersioningEnabled': 'S3 writes each log once, and the role of no function may write here.',
    'NIST.800.53.R5-S3DefaultEncryptionKMS': 'S3 can’t deliver access logs to a bucket with a key of KMS.',
  })
  for (const [name, bucket] of Object.entries(buckets)) {
    const logFilePrefix = `${name}/`
    logs.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('logging.s3.amazonaws.com')],
        actions: ['s3:PutObject'],
        resources: [logs.arnForObjects(`${logFilePrefix}*`)],
        conditions: {
          ArnLike: { 'aws:SourceArn': bucket.bucketArn },
          StringEquals: { 'aws:SourceAccount': Stack.of(scope).account },
        },
      }),
    )
    const resource = bucket.node.defaultChild as CfnBucket
    resource.loggingConfiguration = { destinationBucketName: logs.bucketName, logFilePrefix }
  }
}
