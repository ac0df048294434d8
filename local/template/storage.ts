import type { Resolved } from './api.ts'
import { list, number, object, text, texts } from './fields.ts'
import type { BucketModel, QueueModel, SecretModel, TableModel } from './model.ts'
import { arnOf } from './physical.ts'

const ofType = (resources: Resolved[], ...types: string[]) => resources.filter(({ type }) => types.includes(type))

/**
 * Properties that CreateTable accepts. A table's other properties (recovery, protection, tags) have no meaning locally.
 */
const CREATE_KEYS = ['AttributeDefinitions', 'KeySchema', 'LocalSecondaryIndexes'] as const

const indexOf = (index: unknown) => {
  const { IndexName, KeySchema, Projection } = object(index)
  return { IndexName, KeySchema, Projection }
}

export const readTables = (resources: Resolved[]): TableModel[] =>
  ofType(resources, 'AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable').map(({ type, name, properties }) => {
    const view = text(object(properties.StreamSpecification).StreamViewType)
    const ttl = object(properties.TimeToLiveSpecification)
    const indexes = list(properties.GlobalSecondaryIndexes).map(indexOf)
    return {
      name,
      streamArn: `${arnOf(type, name)}/stream/local`,
      ttlAttribute: ttl.Enabled === true || ttl.Enabled === 'true' ? text(ttl.AttributeName) : undefined,
      properties: {
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        ...Object.fromEntries(CREATE_KEYS.flatMap((key) => (properties[key] ? [[key, properties[key]]] : []))),
        ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
        ...(view && { StreamSpecification: { StreamEnabled: true, StreamViewType: view } }),
      },
    }
  })

export const readQueues = (resources: Resolved[]): QueueModel[] =>
  ofType(resources, 'AWS::SQS::Queue').map(({ type, name, properties }) => {
    const policy = object(
      typeof properties.RedrivePolicy === 'string' ? JSON.parse(properties.RedrivePolicy) : properties.RedrivePolicy,
    )
    const targetArn = text(policy.deadLetterTargetArn)
    return {
      name,
      arn: arnOf(type, name),
      visibilitySeconds: number(properties.VisibilityTimeout) ?? 30,
      retentionSeconds: number(properties.MessageRetentionPeriod) ?? 345_600,
      delaySeconds: number(properties.DelaySeconds) ?? 0,
      redrive: targetArn ? { targetArn, maxReceives: number(policy.maxReceiveCount) ?? 1 } : undefined,
    }
  })

export const readSecrets = (resources: Resolved[]): SecretModel[] =>
  ofType(resources, 'AWS::SecretsManager::Secret').map(({ type, name, properties }) => ({
    name,
    arn: arnOf(type, name),
    generate: properties.GenerateSecretString ? object(properties.GenerateSecretString) : undefined,
    value: text(properties.SecretString),
  }))

export const readBuckets = (resources: Resolved[]): BucketModel[] =>
  ofType(resources, 'AWS::S3::Bucket').map(({ name, properties }) => ({
    name,
    cors: list(object(properties.CorsConfiguration).CorsRules)
      .map(object)
      .map((rule) => ({
        methods: texts(rule.AllowedMethods),
        origins: texts(rule.AllowedOrigins),
        headers: texts(rule.AllowedHeaders),
        exposed: texts(rule.ExposedHeaders),
      })),
  }))
