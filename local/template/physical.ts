import { createHash } from 'node:crypto'
import type { RawResource } from './assembly.ts'

/** Account and region of all local resources. */
export const ACCOUNT = '000000000000'
export const REGION = 'us-east-1'

/** Address of the local AWS endpoints, which queue addresses contain. */
export interface Addresses {
  /** e.g. `http://127.0.0.1:3001` */
  aws: string
}

const NAME_PROPERTY: Record<string, string> = {
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::S3::Bucket': 'BucketName',
  'AWS::Events::EventBus': 'Name',
  'AWS::Events::Rule': 'Name',
  'AWS::SecretsManager::Secret': 'Name',
}

/** A function's only local version: the latest built bundle. All aliases lead to it. */
const VERSION = '1'

/**
 * Returns a resource's name: its own if the template declares one, else stack and logical id, as CloudFormation does.
 */
export const physicalName = (
  stack: string,
  id: string,
  resource: RawResource,
  resolve: (value: unknown) => unknown,
): string => {
  const given = resolve(resource.Properties?.[NAME_PROPERTY[resource.Type] ?? ''])
  if (typeof given === 'string') return given
  if (resource.Type === 'AWS::Lambda::Version') return `${resolve(resource.Properties?.FunctionName)}:${VERSION}`
  if (resource.Type === 'AWS::Lambda::Alias')
    return `${resolve(resource.Properties?.FunctionName)}:${resolve(resource.Properties?.Name)}`
  if (resource.Type === 'AWS::S3::Bucket') return `${stack}-${id}`.toLowerCase().slice(0, 63)
  if (/^AWS::ApiGateway(::RestApi|::Resource|V2::Api|V2::Integration)$/.test(resource.Type)) {
    return createHash('sha256').update(`${stack}/${id}`).digest('hex').slice(0, 10)
  }
  return `${stack}-${id}`
}

const arn = (service: string, resource: string, region = REGION, account = ACCOUNT) =>
  `arn:aws:${service}:${region}:${account}:${resource}`

/**
 * Returns the six characters that Secrets Manager appends to a secret's name. They are stable, so that a restart finds
 * the secret again.
 */
const suffixOf = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 6)

/** Returns the ARN of a resource by type. */
export const arnOf = (type: string, name: string): string => {
  switch (type) {
    case 'AWS::DynamoDB::Table':
    case 'AWS::DynamoDB::GlobalTable':
      return arn('dynamodb', `table/${name}`)
    case 'AWS::SQS::Queue':
      return arn('sqs', name)
    case 'AWS::Lambda::Function':
    case 'AWS::Lambda::Version':
    case 'AWS::Lambda::Alias':
      return arn('lambda', `function:${name}`)
    case 'AWS::S3::Bucket':
      return arn('s3', name, '', '')
    case 'AWS::Events::EventBus':
      return arn('events', `event-bus/${name}`)
    case 'AWS::Events::Rule':
      return arn('events', `rule/${name}`)
    case 'AWS::SecretsManager::Secret':
      return arn('secretsmanager', `secret:${name}-${suffixOf(name)}`)
    case 'AWS::SNS::Topic':
      return arn('sns', name)
    default:
      return arn('local', name)
  }
}

/** Returns a function's own ARN from an ARN with a version or an alias. */
export const withoutQualifier = (functionArn: string): string => functionArn.split(':').slice(0, 7).join(':')

/** Returns the value of `Ref` for a resource. */
export const refOf = (type: string, name: string, stageName: unknown, addresses: Addresses): string => {
  switch (type) {
    case 'AWS::SQS::Queue':
      return `${addresses.aws}/${ACCOUNT}/${name}`
    case 'AWS::SecretsManager::Secret':
    case 'AWS::SNS::Topic':
    case 'AWS::Lambda::Version':
    case 'AWS::Lambda::Alias':
      return arnOf(type, name)
    case 'AWS::ApiGateway::Stage':
      return typeof stageName === 'string' ? stageName : name
    default:
      return name
  }
}

/** Returns the value of `Fn::GetAtt` for a resource. */
export const attributeOf = (type: string, name: string, attribute: string): string => {
  switch (attribute) {
    case 'Arn':
    case 'TopicArn':
    case 'AliasArn':
      return arnOf(type, name)
    case 'StreamArn':
      return `${arnOf(type, name)}/stream/local`
    case 'QueueName':
    case 'Name':
      return name
    case 'Version':
      return VERSION
    case 'FunctionArn':
      return withoutQualifier(arnOf(type, name))
    case 'RootResourceId':
      return `${name}-root`
    case 'RestApiId':
      return name
    default:
      return `${name}.${attribute}`
  }
}
