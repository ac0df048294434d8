import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { type Context, readConfig } from '#infra/config.ts'
import { planFunctions, type Registry } from '#infra/plan.ts'
import { createPlatform, type PlatformProps } from '#infra/platform.ts'
import { QUEUES } from '#shared/foundation/queues/queues.ts'

export const registry: Registry = { requestFunctions, workerFunctions }
export const workers = Object.values(workerFunctions).flat()
export const plans = planFunctions(registry)

// biome-ignore lint/suspicious/noExplicitAny: templates are plain JSON of many shapes
type Json = any

/** The parts of a template's resource that the tests read. */
export type Resource = {
  Type: string
  Properties: Json
  Metadata?: Json
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
  DependsOn?: string[]
}

export type Synthesized = {
  data: Template
  service: Template
  /** Stack nested in that of the service. */
  routes: Template
  operations: Template
  /** Stack of the edge's function in us-east-1, for a stage in another region. */
  edge: Template | undefined
  /** Names of the stacks, in deployment order. */
  names: string[]
}

const places = mkdtempSync(join(tmpdir(), 'infra-'))
const made = new Map<string, Synthesized>()

/** Creates a folder with a bundle for each function. Bundle contents make no difference to the stacks. */
function emptyBundles(): string {
  const bundles = join(places, 'bundles')
  for (const { name } of plans) {
    mkdirSync(join(bundles, name), { recursive: true })
    writeFileSync(join(bundles, name, 'index.cjs'), 'exports.handler = async () => {}')
  }
  return bundles
}

export function projectContext(): Context {
  return JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')).context
}

/** CDK notes for each value where in the source it was made, which takes a sixth of a synthesis. */
function withoutTraces<T>(make: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return make()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * Synthesizes the stacks of one stage, with the given settings over those of `cdk.json`. Equal settings share one
 * synthesis.
 */
export function synthesize(
  context: Context = {},
  props: Partial<PlatformProps> = {},
  region = 'us-east-1',
): Synthesized {
  const config = readConfig({ ...projectContext(), ...context }, { AWS_REGION: region })
  const key = JSON.stringify([config, region])
  const known = made.get(key)
  if (known !== undefined && Object.keys(props).length === 0) return known
  const { app, data, service, operations } = withoutTraces(() =>
    createPlatform({
      config,
      registry,
      queues: QUEUES,
      bundles: emptyBundles(),
      app: { outdir: mkdtempSync(join(places, 'out-')), treeMetadata: false, analyticsReporting: false },
      ...props,
    }),
  )
  const edge = app.node.tryFindChild(`${config.prefix}-${config.stage}-Edge`)
  const own = withoutTraces(() => ({
    data: Template.fromStack(data),
    service: Template.fromStack(service),
    operations: Template.fromStack(operations),
    edge: edge instanceof Stack ? Template.fromStack(edge) : undefined,
  }))
  const others = new Map([
    [data.stackName, own.data],
    [service.stackName, own.service],
  ])
  const result = {
    ...own,
    routes: embedded(Template.fromStack(service.routes), own.service),
    operations: resolved(own.operations, others),
    names: [data, service, operations].map(({ stackName }) => stackName),
  }
  if (Object.keys(props).length === 0) made.set(key, result)
  return result
}

/** Writes a template's references to other stacks as in those stacks, so that both can be compared. */
const resolved = (template: Template, others: ReadonlyMap<string, Template>): Template =>
  Template.fromJSON(
    JSON.parse(JSON.stringify(template.toJSON()), (_, value) => {
      const read = value?.['Fn::GetStackOutput']
      return read === undefined ? value : others.get(read.StackName)?.toJSON().Outputs[read.OutputName].Value
    }),
  )

/** Writes a nested template's parameters as the values that the template around it passes. */
const embedded = (nested: Template, around: Template): Template => {
  const [[, stack] = []] = resources(around, 'AWS::CloudFormation::Stack')
  return Template.fromJSON(
    JSON.parse(JSON.stringify(nested.toJSON()), (_, value) => stack?.Properties.Parameters?.[value?.Ref] ?? value),
  )
}

/** Lists a template's resources of one type, by logical id. */
export const resources = (template: Template, type: string): [string, Resource][] =>
  Object.entries(template.findResources(type)) as [string, Resource][]

/** Lists the functions by the name of their folder. */
export function functionsOf(template: Template): Map<string, Resource & { id: string }> {
  return new Map(
    resources(template, 'AWS::Lambda::Function')
      .filter(([, resource]) => resource.Metadata?.function !== undefined)
      .map(([id, resource]) => [resource.Metadata.function, { id, ...resource }]),
  )
}

type Statement = {
  Sid?: string
  Effect: 'Allow' | 'Deny'
  Action: string | string[]
  Resource: unknown
  Condition?: unknown
}

/** Lists the statements of a function's role, with actions and resources as lists. */
export function statementsOf(template: Template, name: string) {
  const lambda = functionsOf(template).get(name)
  const roleId = lambda?.Properties.Role['Fn::GetAtt'][0]
  const role = template.toJSON().Resources[roleId] as Resource
  return (role.Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[])
    .flatMap((policy) => policy.PolicyDocument.Statement)
    .map((statement) => ({ ...statement, actions: [statement.Action].flat(), resources: [statement.Resource].flat() }))
}
