import { createRequire } from 'node:module'
import { type App, Stack, Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'

/** Checks every resource at synth. Findings that aren't acknowledged fail the synth. */
export function addChecks(app: App): void {
  // The local run checks nothing, so it doesn't load 270 modules of rules.
  const { AwsSolutionsChecks, ServerlessChecks } = createRequire(import.meta.url)('cdk-nag') as typeof import('cdk-nag')
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
}

/**
 * Acknowledges findings on a construct and everything below it.
 *
 * @param reasons reason by rule (`AwsSolutions-SQS3`, or `AwsSolutions-IAM5[Resource::*]` for one finding of it)
 */
export function acknowledge(construct: IConstruct, reasons: Record<string, string>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })))
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
