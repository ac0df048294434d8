import { createRequire } from 'node:module'
import { type App, Stack, Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import type { Config } from './config.ts'

/** Decisions for all resources of a kind that NIST's rules ask about. */
const DECISIONS = {
  IAMNoInlinePolicy:
    'Each role has exactly the rights that its function declares. An inline policy belongs to no other role, and goes with it.',
  LambdaInsideVPC:
    'Functions call AWS and hosts on the internet, and nothing in a network of their own. They refuse private addresses themselves.',
  LambdaConcurrency:
    'Requests share the account’s executions. Production stages reserve some for streams, the staff and workers, by a setting.',
  APIGWSSLEnabled:
    'The API calls Lambda functions with their permission, and no server to which it would show a certificate.',
  APIGWCacheEnabledAndEncrypted: 'Answers belong to one caller, so the gateway caches none.',
}

/** Rules about keys of KMS, which a stage with a key of its own passes. */
const KEYS = ['CloudWatchLogGroupEncrypted', 'SecretsManagerUsingKMSKey', 'S3DefaultEncryptionKMS', 'SNSEncryptedKMS']

/** Reason why the API itself has no web ACL. */
const BEHIND_EDGE = 'The API takes only what comes through the edge, which can have a web ACL.'

const NIST = 'NIST.800.53.R5-'

/** Checks every resource at synth. Findings that aren't acknowledged fail the synth. */
export function addChecks(app: App, { kmsKeyArn, waf, edge, backup }: Config): void {
  // The local run checks nothing, so it doesn't load 270 modules of rules.
  const nag = createRequire(import.meta.url)('cdk-nag') as typeof import('cdk-nag')
  const { AwsSolutionsChecks, NIST80053R5Checks, ServerlessChecks } = nag
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app), new NIST80053R5Checks(app))
  const own = 'Encrypted with a key of AWS. A key of the operator is a setting (kmsKeyArn).'
  acknowledge(app, {
    ...named(DECISIONS),
    ...named(kmsKeyArn === undefined ? Object.fromEntries(KEYS.map((rule) => [rule, own])) : {}),
    ...named(
      waf && !edge
        ? {}
        : { APIGWAssociatedWithWAF: edge ? BEHIND_EDGE : 'A setting, on by default in production stages.' },
    ),
    ...named(
      backup ? {} : { DynamoDBInBackupPlan: 'Nightly backups are a setting. Point-in-time recovery is always on.' },
    ),
  })
}

const named = (reasons: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(reasons).map(([rule, reason]) => [NIST + rule, reason]))

/** NIST's rules that ask the same as one of the others, so that one reason answers both. */
const SAME: Record<string, string> = {
  'AwsSolutions-SMG4': `${NIST}SecretsManagerRotationEnabled`,
  'AwsSolutions-S1': `${NIST}S3BucketLoggingEnabled`,
  'Serverless-LambdaDLQ': `${NIST}LambdaDLQ`,
}

/**
 * Acknowledges findings on a construct and everything below it.
 *
 * @param reasons reason by rule (`AwsSolutions-SQS3`, or `AwsSolutions-IAM5[Resource::*]` for one finding of it)
 */
export function acknowledge(construct: IConstruct, reasons: Record<string, string>): void {
  const all = Object.entries(reasons).flatMap(([id, reason]) =>
    [id, SAME[id] ?? id].map((each) => ({ id: each, reason })),
  )
  Validations.of(construct).acknowledge(...new Map(all.map((each) => [each.id, each])).values())
}

/** Returns the rule's name for one wildcard in a policy: `AwsSolutions-IAM5[Resource::<Logs.Arn>:*]`. */
export function wildcardFinding(construct: IConstruct, resource: string): string {
  return `AwsSolutions-IAM5[Resource::${flatten(Stack.of(construct).resolve(resource))}]`
}

/** Formats an intrinsic function as cdk-nag does. */
function flatten(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const [[name, argument]] = Object.entries(value) as [[string, unknown]]
  if (name === 'Fn::Join') return (argument as [string, unknown[]])[1].map(flatten).join('')
  if (name === 'Fn::GetAtt') return `<${(argument as string[]).join('.')}>`
  if (name === 'Fn::GetStackOutput') return JSON.stringify(value)
  return name === 'Ref' ? `<${argument}>` : flatten(argument)
}
