import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { readConfig } from '#infra/config.ts'
import { RING_NAMES } from '#shared/kernel/ports/keys.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { projectContext, type Resource, resources, statementsOf, synthesize } from './support.ts'

const { data } = synthesize({ stage: 'prod' })

describe('the data stack', () => {
  it('has an on-demand table with keys-only indexes, a stream of new images, expiry, and recovery to any second', () => {
    data.hasResourceProperties('AWS::DynamoDB::Table', {
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      TimeToLiveSpecification: { AttributeName: TABLE_LAYOUT.ttl, Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      KeySchema: [
        { AttributeName: TABLE_LAYOUT.partitionKey, KeyType: 'HASH' },
        { AttributeName: TABLE_LAYOUT.sortKey, KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: Object.entries(TABLE_LAYOUT.indexes).map(([IndexName, keys]) => ({
        IndexName,
        KeySchema: [
          { AttributeName: keys.partitionKey, KeyType: 'HASH' },
          { AttributeName: keys.sortKey, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })),
    })
  })

  it('limits and warms the table and its indexes on demand, by the setting', () => {
    const { data: limited } = synthesize({ tableCapacity: '{"maxWrites":5000,"warmWrites":9000}' })
    const table = resources(limited, 'AWS::DynamoDB::Table').find(([id]) => id.startsWith('Table'))?.[1].Properties
    expect(table.BillingMode).toBe('PAY_PER_REQUEST')
    for (const part of [table, ...table.GlobalSecondaryIndexes]) {
      expect(part.OnDemandThroughput).toEqual({ MaxWriteRequestUnits: 5_000 })
      expect(part.WarmThroughput).toEqual({ WriteUnitsPerSecond: 9_000 })
    }
  })

  it('provisions the table and its indexes and scales each, by the setting; the audit’s table stays on demand', () => {
    const tableCapacity = '{"provisioned":{"reads":{"min":5,"max":50},"writes":{"min":10,"max":400}}}'
    const { data: provisioned } = synthesize({ tableCapacity })
    const tables = resources(provisioned, 'AWS::DynamoDB::Table')
    // Provisioned is CloudFormation's default.
    expect(tables.map(([, { Properties }]) => Properties.BillingMode)).toEqual([undefined, 'PAY_PER_REQUEST'])
    const properties = tables[0]?.[1].Properties
    for (const part of [properties, ...properties.GlobalSecondaryIndexes])
      expect(part.ProvisionedThroughput).toEqual({ ReadCapacityUnits: 5, WriteCapacityUnits: 10 })
    const targets = resources(provisioned, 'AWS::ApplicationAutoScaling::ScalableTarget')
    expect(targets.map(([, { Properties }]) => [Properties.MinCapacity, Properties.MaxCapacity]).sort()).toEqual(
      [...Array(4).fill([10, 400]), ...Array(4).fill([5, 50])].sort(),
    )
    provisioned.resourceCountIs('AWS::ApplicationAutoScaling::ScalingPolicy', 8)
  })

  it('has a separate table for the audit, with expiry and recovery and without a stream', () => {
    const [, audit] = resources(data, 'AWS::DynamoDB::Table').find(([id]) => id.startsWith('AuditTable')) ?? []
    expect(audit?.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: TABLE_LAYOUT.ttl, Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    })
    expect(audit?.Properties.StreamSpecification).toBeUndefined()
    const indexes: { IndexName: string }[] = audit?.Properties.GlobalSecondaryIndexes
    expect(indexes.map(({ IndexName }) => IndexName)).toEqual(['directory', 'list'])
  })

  it('survives the deletion of a stage that keeps its data', () => {
    for (const [, table] of resources(data, 'AWS::DynamoDB::Table'))
      expect(table.Properties.DeletionProtectionEnabled).toBe(true)
    for (const type of ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret']) {
      for (const [, resource] of resources(data, type)) expect(resource.DeletionPolicy).toMatch(/^Retain/)
    }
  })

  it('leaves nothing of a failed first deployment that would be in the way of the next, except for protected tables', () => {
    const { data: all, service } = synthesize({ stage: 'prod', auditLockDays: 30 })
    const kept = [all, service].flatMap((template) =>
      (Object.values(template.toJSON().Resources) as Resource[])
        .filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain')
        .map(({ Type }) => Type),
    )
    expect([...new Set(kept)].sort()).toEqual([
      'AWS::ApiGateway::Account',
      'AWS::DynamoDB::Table',
      'AWS::IAM::Role',
      // Locked objects can't be deleted.
      'AWS::S3::Bucket',
    ])
  })

  it('is deleted with a stage that keeps nothing', () => {
    const { data: dev } = synthesize({ stage: 'dev' })
    expect(resources(dev, 'AWS::DynamoDB::Table')[0]?.[1].Properties.DeletionProtectionEnabled).toBe(false)
    for (const [, bucket] of resources(dev, 'AWS::S3::Bucket')) expect(bucket.DeletionPolicy).toBe('Delete')
  })

  it('has a bucket that is closed to the public and to plain connections, and deletes payloads after the set days', () => {
    const days = readConfig({ ...projectContext(), stage: 'prod' }, {}).payloadRetentionDays
    data.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: Match.anyValue(),
      LifecycleConfiguration: {
        Rules: Match.arrayWith([
          Match.objectLike({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }),
          Match.objectLike({ Prefix: 'kept/', ExpirationInDays: 2 }),
          Match.objectLike({ Prefix: 'payloads/', ExpirationInDays: days }),
        ]),
      },
    })
    expect(JSON.stringify(resources(data, 'AWS::S3::BucketPolicy'))).toContain('aws:SecureTransport')
  })

  it('logs every access to its buckets into one that only S3 may write, for as many days as other logs', () => {
    const { data: locked } = synthesize({ stage: 'prod', auditLockDays: '731' })
    const all = resources(locked, 'AWS::S3::Bucket')
    const [logs, bucket] = all.find(([id]) => id.startsWith('BucketLogs')) ?? []
    for (const [id, { Properties }] of all.filter(([other]) => other !== logs))
      expect(Properties.LoggingConfiguration).toEqual({
        DestinationBucketName: { Ref: logs },
        LogFilePrefix: id.startsWith('Audit') ? 'audit/' : id.startsWith('Key') ? 'keys/' : 'objects/',
      })
    expect(bucket?.Properties.LifecycleConfiguration.Rules).toEqual([
      { Id: 'access-logs', Status: 'Enabled', ExpirationInDays: 90 },
    ])
    const [, policy] = resources(locked, 'AWS::S3::BucketPolicy').find(([id]) => id.startsWith('BucketLogs')) ?? []
    const allowed = policy?.Properties.PolicyDocument.Statement.filter(
      ({ Effect }: { Effect: string }) => Effect === 'Allow',
    )
    expect(allowed).toHaveLength(3)
    for (const { Action, Principal, Condition } of allowed) {
      expect(Action).toBe('s3:PutObject')
      expect(Principal).toEqual({ Service: 'logging.s3.amazonaws.com' })
      expect(Condition.StringEquals).toEqual({ 'aws:SourceAccount': { Ref: 'AWS::AccountId' } })
    }
  })

  it('keeps deleted objects as long as the table can be restored to a time when they existed', () => {
    const [, bucket] = resources(data, 'AWS::S3::Bucket').find(([id]) => id.startsWith('Bucket')) ?? []
    expect(bucket?.Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' })
    expect(bucket?.Properties.LifecycleConfiguration.Rules).toContainEqual({
      Id: 'deleted-objects',
      Status: 'Enabled',
      NoncurrentVersionExpiration: { NoncurrentDays: 35 },
      ExpiredObjectDeleteMarker: true,
    })
  })

  it('has a separate bucket for workspaces’ data keys, without versions and outside the backup', () => {
    const { data: backed } = synthesize({ stage: 'prod', backup: 'true' })
    const [id = '', keys] = resources(backed, 'AWS::S3::Bucket').find(([name]) => name.startsWith('KeyBucket')) ?? []
    expect(keys?.Properties.VersioningConfiguration).toBeUndefined()
    const [[, selection] = []] = resources(backed, 'AWS::Backup::BackupSelection')
    const saved = JSON.stringify(selection?.Properties.BackupSelection.Resources)
    expect(saved).not.toContain(id)
    expect(saved).toMatch(/"Bucket[0-9A-F]{8}"/)
  })

  it('deletes nothing else: no rule reaches files, manifests and tasks’ results', () => {
    const { data: shorter } = synthesize({ payloadRetentionDays: '7' })
    const bucket = resources(shorter, 'AWS::S3::Bucket')[0]?.[1].Properties
    const rules: Record<string, unknown>[] = bucket.LifecycleConfiguration.Rules
    const expiring = rules.filter(({ ExpirationInDays }) => ExpirationInDays !== undefined)
    expect(expiring.map(({ Prefix, ExpirationInDays }) => [Prefix, ExpirationInDays])).toEqual([
      ['kept/', 2],
      ['payloads/', 7],
    ])
  })

  it('locks the anchors of the audit in a bucket of their own where the stage says so', () => {
    expect(resources(data, 'AWS::S3::Bucket').map(([id]) => id.slice(0, -8))).toEqual([
      'Bucket',
      'KeyBucket',
      'BucketLogs',
    ])
    const { data: locked, service } = synthesize({ auditLockDays: '731' })
    const bucket = resources(locked, 'AWS::S3::Bucket').find(([id]) => id.startsWith('AuditBucket'))?.[1]
    expect(bucket?.Properties).toMatchObject({
      ObjectLockEnabled: true,
      ObjectLockConfiguration: { Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: 731 } } },
      VersioningConfiguration: { Status: 'Enabled' },
    })
    expect(bucket?.DeletionPolicy).toBe('Retain')
    const statement = statementsOf(service, 'audit').find(({ Sid }) => Sid === 'AnchorAudit')
    expect(JSON.stringify(statement)).toContain('AuditBucket')
  })

  it('has a keyring for each name, which are generated at deployment with one key each', () => {
    const secrets = resources(data, 'AWS::SecretsManager::Secret').filter(([id]) => /Keys/.test(id))
    expect(secrets).toHaveLength(RING_NAMES.length)
    for (const [, { Properties }] of secrets) {
      expect(Properties.SecretString).toBeUndefined()
      expect(Properties.GenerateSecretString).toEqual({
        SecretStringTemplate: '{"current":"k1"}',
        GenerateStringKey: 'k1',
        PasswordLength: 64,
        ExcludePunctuation: true,
      })
    }
  })

  it('has the bot’s secret, with a generated webhook secret and without a token', () => {
    const secrets = resources(data, 'AWS::SecretsManager::Secret').filter(([id]) => /^TelegramBot/.test(id))
    expect(secrets).toHaveLength(1)
    expect(secrets[0]?.[1].Properties.SecretString).toBeUndefined()
    expect(secrets[0]?.[1].Properties.GenerateSecretString).toEqual({
      SecretStringTemplate: '{"token":""}',
      GenerateStringKey: 'webhook_secret',
      PasswordLength: 64,
      ExcludePunctuation: true,
    })
  })
  it('has the language model’s secret once a model is set, without a key until the operator adds one', () => {
    const others = (of: typeof data) =>
      resources(of, 'AWS::SecretsManager::Secret').filter(([id]) => !/Keys|^TelegramBot/.test(id))
    expect(others(data)).toEqual([])
    const secrets = others(synthesize({ modelApiUrl: 'https://model.example/v1' }).data)
    expect(secrets.map(([id]) => id)).toEqual([expect.stringMatching(/^LanguageModel/)])
    expect(secrets[0]?.[1].Properties).toMatchObject({ SecretString: '{"api_key":""}' })
  })
})
