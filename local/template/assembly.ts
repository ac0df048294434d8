import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A resource as the template declares it. */
export interface RawResource {
  Type: string
  Properties?: Record<string, unknown>
  Metadata?: Record<string, unknown>
  Condition?: string
}

/** One stack of a cloud assembly. */
export interface Stack {
  name: string
  resources: Record<string, RawResource>
  parameters: Record<string, { Default?: unknown }>
  conditions: Record<string, unknown>
  mappings: Record<string, Record<string, Record<string, unknown>>>
  /** Values of the outputs (unresolved), by name. */
  outputs: Record<string, unknown>
  /** Export name (unresolved) and value of each exported output. */
  exports: { name: unknown; value: unknown }[]
  /** Asset hash → absolute folder or file. */
  assets: Map<string, string>
  /** The stack that this one is nested in, and the values (unresolved) that it passes for parameters. */
  around?: { stack: Stack; parameters: Record<string, unknown> }
}

interface Template {
  Resources?: Record<string, RawResource>
  Parameters?: Record<string, { Default?: unknown }>
  Conditions?: Record<string, unknown>
  Mappings?: Record<string, Record<string, Record<string, unknown>>>
  Outputs?: Record<string, { Value: unknown; Export?: { Name: unknown } }>
}

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T

const TEMPLATE = '.template.json'

/** Lists the template files, including those in folders of nested assemblies (stages). */
const templateFiles = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory() && entry.name.startsWith('assembly-'))
      return templateFiles(path.join(directory, entry.name))
    return entry.name.endsWith(TEMPLATE) ? [path.join(directory, entry.name)] : []
  })

const readAssets = (file: string): Map<string, string> => {
  if (!existsSync(file)) return new Map()
  const { files = {} } = readJson<{ files?: Record<string, { source: { path?: string } }> }>(file)
  return new Map(
    Object.entries(files).flatMap(([hash, { source }]) =>
      source.path ? [[hash, path.resolve(path.dirname(file), source.path)]] : [],
    ),
  )
}

/**
 * Reads every stack of a synthesized cloud assembly.
 *
 * @param directory `cdk.out`
 * @throws Error when the folder contains no template
 */
export const readAssembly = (directory: string): Stack[] => {
  const files = existsSync(directory) ? templateFiles(directory) : []
  if (files.length === 0) throw new Error(`No synthesized template in ${directory}. Run the synth step first.`)
  const stacks = new Map(files.map((file) => [file, readStack(file)]))
  for (const stack of stacks.values()) {
    for (const { Type, Properties = {} } of Object.values(stack.resources)) {
      if (Type !== 'AWS::CloudFormation::Stack') continue
      const [hash = ''] = JSON.stringify(Properties.TemplateURL).match(/[0-9a-f]{64}/) ?? []
      const nested = stacks.get(stack.assets.get(hash) ?? '')
      if (!nested) throw new Error(`${stack.name}: the assembly has no template of a nested stack`)
      nested.around = { stack, parameters: (Properties.Parameters ?? {}) as Record<string, unknown> }
    }
  }
  return [...stacks.values()]
}

const readStack = (file: string): Stack => {
  const template = readJson<Template>(file)
  return {
    name: path.basename(file, TEMPLATE),
    resources: template.Resources ?? {},
    parameters: template.Parameters ?? {},
    conditions: template.Conditions ?? {},
    mappings: template.Mappings ?? {},
    outputs: Object.fromEntries(Object.entries(template.Outputs ?? {}).map(([name, { Value }]) => [name, Value])),
    exports: Object.values(template.Outputs ?? {}).flatMap((output) =>
      output.Export ? [{ name: output.Export.Name, value: output.Value }] : [],
    ),
    assets: readAssets(file.replace(TEMPLATE, '.assets.json')),
  }
}
