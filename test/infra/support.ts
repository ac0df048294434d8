import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Template } from 'aws-cdk-lib/assertions'
import { requestFunctions, workers } from '#functions/registry.ts'
import { type Context, readConfig } from '#infra/config.ts'
import { planFunctions, type Registry } from '#infra/plan.ts'
import { createPlatform, type PlatformProps } from '#infra/platform.ts'
import { QUEUES } from '#shared/events/queues.ts'

export const registry: Registry = { requestFunctions, workers }
export const plans = planFunctions(registry)

/** A resource of a template, as far as the tests look into one. */
// biome-ignore lint/suspicious/noExplicitAny: templates are plain JSON of many shapes
export type Resource = { Type: string; Properties: any; Metadata?: any; DeletionPolicy?: string; DependsOn?: string[] }

export type Synthesized = {
  data: Template
  service: Template
  routes: Template
  operations: Template
  /** Of the stacks, in the order in which they are deployed. */
  names: string[]
}

const places = mkdtempSync(join(tmpdir(), 'infra-'))
const made = new Map<string, Synthesized>()

/** A folder with a bundle for each function: what is in them makes no difference to the stacks. */
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

/** The stacks of one stage, with the settings of `cdk.json` and the given ones over them; what comes to the same is made once. */
export function synthesize(
  context: Context = {},
  props: Partial<PlatformProps> = {},
  region = 'us-east-1',
): Synthesized {
  const config = readConfig({ ...projectContext(), ...context }, { AWS_REGION: region })
  const key = JSON.stringify([config, region])
  const known = made.get(key)
  if (known !== undefined && Object.keys(props).length === 0) return known
  const { data, service, routes, operations } = createPlatform({
    config,
    registry,
    queues: QUEUES,
    bundles: emptyBundles(),
    app: { outdir: mkdtempSync(join(places, 'out-')) },
    ...props,
  })
  const own = {
    data: Template.fromStack(data),
    service: Template.fromStack(service),
    routes: Template.fromStack(routes),
    operations: Template.fromStack(operations),
  }
  const exported = exportsOf([own.data, own.service, own.routes])
  const result = {
    ...own,
    routes: withoutImports(own.routes, exported),
    operations: withoutImports(own.operations, exported),
    names: [data, service, routes, operations].map(({ stackName }) => stackName),
  }
  if (Object.keys(props).length === 0) made.set(key, result)
  return result
}

/** What stacks export to each other, by the name under which the others import it. */
const exportsOf = (templates: readonly Template[]): Map<string, unknown> =>
  new Map(
    templates
      .flatMap(
        (template) => Object.values(template.toJSON().Outputs ?? {}) as { Export?: { Name: string }; Value: unknown }[],
      )
      .flatMap(({ Export, Value }) => (Export === undefined ? [] : [[Export.Name, Value] as const])),
  )

/** The template with what it imports written as in the stack that has it, so that both can be compared. */
const withoutImports = (template: Template, exported: Map<string, unknown>): Template =>
  Template.fromJSON(
    JSON.parse(JSON.stringify(template.toJSON()), (_, value) =>
      typeof value?.['Fn::ImportValue'] === 'string' ? exported.get(value['Fn::ImportValue']) : value,
    ),
  )

/** A template's resources of one type, by logical id. */
export const resources = (template: Template, type: string): [string, Resource][] =>
  Object.entries(template.findResources(type)) as [string, Resource][]

/** The functions by the name of their folder. */
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

/** The statements of a function's role, with actions and resources as lists. */
export function statementsOf(template: Template, name: string) {
  const lambda = functionsOf(template).get(name)
  const roleId = lambda?.Properties.Role['Fn::GetAtt'][0]
  const role = template.toJSON().Resources[roleId] as Resource
  return (role.Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[])
    .flatMap((policy) => policy.PolicyDocument.Statement)
    .map((statement) => ({ ...statement, actions: [statement.Action].flat(), resources: [statement.Resource].flat() }))
}
