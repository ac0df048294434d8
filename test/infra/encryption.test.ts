import { describe, expect, it } from 'vitest'
import { functionsOf, plans, type Resource, resources, type Synthesized, statementsOf, synthesize } from './support.ts'

const kmsKeyArn = 'arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const everything = {
  stage: 'prod',
  journeyRun: true,
  auditLockDays: 30,
  edge: true,
  waf: true,
  modelApiUrl: 'https://model.example.com',
}
const encrypted = synthesize({ ...everything, kmsKeyArn })
const templatesOf = ({ data, service, routes, operations }: Synthesized) => [data, service, routes, operations]

/** Where each kind of resource names the key that encrypts it. */
const KEY_OF: Record<string, (properties: Resource['Properties']) => unknown> = {
  'AWS::DynamoDB::Table': ({ SSESpecification }) => SSESpecification?.SSEEnabled && SSESpecification.KMSMasterKeyId,
  'AWS::S3::Bucket': ({ BucketEncryption }) =>
    BucketEncryption.ServerSideEncryptionConfiguration[0].ServerSideEncryptionByDefault.KMSMasterKeyID,
  'AWS::SecretsManager::Secret': ({ KmsKeyId }) => KmsKeyId,
  'AWS::SQS::Queue': ({ KmsMasterKeyId }) => KmsMasterKeyId,
  'AWS::SNS::Topic': ({ KmsMasterKeyId }) => KmsMasterKeyId,
  'AWS::Logs::LogGroup': ({ KmsKeyId }) => KmsKeyId,
}

describe('with a key of the operator', () => {
  it.each(Object.entries(KEY_OF))('every %s is encrypted with it', (type, keyOf) => {
    const all = templatesOf(encrypted).flatMap((template) => resources(template, type))
    // S3 delivers no access logs to a bucket with a key of KMS.
    const own = all.filter(([id]) => !id.startsWith('BucketLogs'))
    expect(own.length).toBeGreaterThan(0)
    for (const [id, { Properties }] of own) expect({ id, key: keyOf(Properties) }).toEqual({ id, key: kmsKeyArn })
  })

  it('S3 asks for a key of the bucket, and not for one of each object', () => {
    for (const [id, { Properties }] of resources(encrypted.data, 'AWS::S3::Bucket'))
      if (!id.startsWith('BucketLogs'))
        expect(Properties.BucketEncryption.ServerSideEncryptionConfiguration[0].BucketKeyEnabled).toBe(true)
  })

  /** Key permissions that a role needs for its other actions, according to AWS's documentation of each service. */
  const needed = (actions: readonly string[]): Record<string, string[]> => {
    const has = (...names: string[]) => names.some((name) => actions.includes(name))
    const of = (decrypts: boolean, generates: boolean) => [
      ...(decrypts ? ['kms:Decrypt'] : []),
      ...(generates ? ['kms:GenerateDataKey'] : []),
    ]
    return Object.fromEntries(
      Object.entries({
        dynamodb: of(
          actions.some((one) => /^dynamodb:(Get|Put|Update|Delete|Query|Batch|ConditionCheck)/.test(one)),
          false,
        ),
        s3: of(has('s3:GetObject'), has('s3:PutObject')),
        secretsmanager: of(has('secretsmanager:GetSecretValue'), false),
        sqs: of(has('sqs:SendMessage', 'sqs:ReceiveMessage'), has('sqs:SendMessage')),
      }).filter(([, rights]) => rights.length > 0),
    )
  }

  it.each(plans)(
    '$name may use it for what it declares, through the service that holds the data, and for nothing else',
    ({ name }) => {
      const statements = statementsOf(encrypted.service, name).filter(({ Effect }) => Effect === 'Allow')
      const given = statements.filter(({ actions }) => actions.some((action) => action.startsWith('kms:')))
      const rights = given.map(({ actions, resources, Condition }) => {
        expect(resources).toEqual([kmsKeyArn])
        const { StringEquals, ...others } = Condition as { StringEquals: Record<string, unknown> }
        expect(others).toEqual({})
        const via = JSON.stringify(StringEquals['kms:ViaService'])
        return [/(dynamodb|s3|secretsmanager|sqs)\./.exec(via)?.[1], actions]
      })
      expect(Object.fromEntries(rights)).toEqual(needed(statements.flatMap(({ actions }) => actions)))
    },
  )

  it('the journey may decrypt its app', () => {
    const [role] = resources(encrypted.operations, 'AWS::IAM::Role').map(([, { Properties }]) =>
      JSON.stringify(Properties.Policies),
    )
    expect(role).toContain('"kms:Decrypt"')
    expect(role).toContain('secretsmanager.')
  })

  it('no template has another one, and none without the setting knows of keys', () => {
    for (const template of templatesOf(encrypted)) template.resourceCountIs('AWS::KMS::Key', 0)
    for (const template of templatesOf(synthesize(everything)))
      expect(JSON.stringify(template.toJSON())).not.toMatch(/kms/i)
    expect(functionsOf(encrypted.service).size).toBe(plans.length)
  })

  it('is refused if it is an alias, or in another region', () => {
    const set = (key: string) => () => synthesize({ kmsKeyArn: key })
    expect(set('arn:aws:kms:us-east-1:123456789012:alias/platform')).toThrow('and not of an alias')
    expect(set(kmsKeyArn.replace('us-east-1', 'eu-west-1'))).toThrow('kmsKeyArn: is in eu-west-1')
  })
})
