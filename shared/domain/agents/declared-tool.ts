import { type Version, VersionEntity } from '../../entities/apps.ts'
import { fail } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import type { Manifest } from '../manifests/schema.ts'
import { loadManifest } from '../versions/manifest.ts'
import type { Agent } from './find.ts'

type DeclaredTool = NonNullable<Manifest['tools']>[number]

/**
 * The tool as the target's *installed* version declares it (specification "ask_agent", rule 3).
 * @throws `tool_not_offered`, with the names of those that it does offer
 */
export const declaredTool = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  { installation }: Agent,
  name: string,
): Promise<DeclaredTool> => {
  const key = { app_id: installation.app_id, id: installation.version_id }
  const version: Version | undefined = await deps.table.get(VersionEntity, key)
  const offered = version ? ((await loadManifest(deps, version)).tools ?? []) : []
  const found = offered.find((tool) => tool.name === name)
  if (found) return found
  throw fail('tool_not_offered', {
    message: 'The agent’s installed version declares no such tool.',
    details: { available: offered.map((tool) => tool.name) },
  })
}

const TYPES = new Map<string, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  // 1.0 is one, too (JSON Schema "integer").
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
  ['array', Array.isArray],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
  ['null', (value) => value === null],
])

/**
 * Checks arguments against what a tool declared: its `required` list and the types of its properties, and nothing deeper
 * (specification "ask_agent", rule 3): the rest is the target's to judge.
 * @throws `invalid_arguments` with `details.fields`
 */
export const checkArguments = ({ input_schema }: DeclaredTool, args: Record<string, unknown>): void => {
  const { required, properties } = input_schema as { required?: unknown; properties?: unknown }
  // A declaration may name any field, `__proto__` among them.
  const fields = new Map<string, string[]>()
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === 'string' && !Object.hasOwn(args, name)) fields.set(name, ['is required'])
  }
  const declared = typeof properties === 'object' && properties !== null ? properties : {}
  for (const [name, value] of Object.entries(args)) {
    const types = Object.hasOwn(declared, name) ? typesOf((declared as Record<string, unknown>)[name]) : []
    if (types.length === 0 || types.some((type) => TYPES.get(type)?.(value) ?? true)) continue
    fields.set(name, [`must be of type ${types.join(' or ')}`])
  }
  if (fields.size === 0) return
  throw fail('invalid_arguments', {
    message: 'The arguments do not match what the tool declared.',
    details: { fields: Object.fromEntries(fields) },
  })
}

/** The types that a property's schema names; none when it leaves them open. */
const typesOf = (schema: unknown): string[] => {
  const type = typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : undefined
  return (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
}
