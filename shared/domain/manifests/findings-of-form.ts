import * as z from 'zod'
import { type Findings, shown, under } from '../../kernel/json-schema/finding.ts'
import { nearest } from '../../kernel/nearest.ts'
import { manifestSchema } from './schema.ts'

const pointer = (path: readonly PropertyKey[]): string => path.reduce<string>((at, step) => under(at, String(step)), '')

const unwrapped = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema

/** The declarations that a path of the manifest can mean; several where the runtime may be either kind. */
const declaredAt = (path: readonly PropertyKey[]): z.core.$ZodType[] =>
  path.reduce<z.core.$ZodType[]>(
    (schemas, step) =>
      schemas
        .map(unwrapped)
        .flatMap((schema) => (schema instanceof z.ZodDiscriminatedUnion ? schema.options.map(unwrapped) : [schema]))
        .flatMap((schema): z.core.$ZodType[] => {
          if (schema instanceof z.ZodArray) return [schema.element]
          const shape = schema instanceof z.ZodObject ? schema.shape : {}
          const member = Object.hasOwn(shape, step) ? shape[String(step)] : undefined
          return member === undefined ? [] : [member]
        }),
    [manifestSchema],
  )

/** The mend that the declaration at this path gives, or else the nearest one around it. */
const fixAt = (path: readonly PropertyKey[]): string => {
  const metas = declaredAt(path).flatMap((schema) =>
    [schema, unwrapped(schema)].map((one) => z.globalRegistry.get(one)),
  )
  const fix = metas.find((meta) => typeof meta?.fix === 'string')?.fix
  return typeof fix === 'string' || path.length === 0 ? String(fix) : fixAt(path.slice(0, -1))
}

/** Names that an object at this path may have; of a runtime, those of its kind. */
const namesAt = (path: readonly PropertyKey[], kind: unknown): string[] =>
  declaredAt(path)
    .map(unwrapped)
    .flatMap((schema) => (schema instanceof z.ZodDiscriminatedUnion ? schema.options.map(unwrapped) : [schema]))
    .flatMap((schema) => (schema instanceof z.ZodObject ? [schema.shape as Record<string, z.core.$ZodType>] : []))
    .filter(({ type }) => !(type instanceof z.ZodLiteral) || kind === undefined || type.value === kind)
    .flatMap(Object.keys)

const messageOf = (issue: z.core.$ZodIssue, missing: boolean): string => {
  if (missing) return 'It is missing.'
  switch (issue.code) {
    case 'invalid_type':
      return `It must be ${issue.expected === 'record' ? 'an object' : `of type ${issue.expected}`}.`
    case 'too_small':
      return issue.origin === 'string' ? 'It is empty.' : `It must be at least ${String(issue.minimum)}.`
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `It must be at most ${String(issue.maximum)}.`
        : `It is too long: at most ${String(issue.maximum)} ${issue.origin === 'array' ? 'entries' : 'characters'}.`
    case 'invalid_format':
      return `It ${issue.message}.`
    case 'invalid_union':
      return 'It must be "webhook" or "inline".'
    default:
      return `${issue.message}.`
  }
}

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<PropertyKey, unknown>)[step]
        : undefined,
    input,
  )

/** Turns the schema library's issues into findings: one for each unknown field, each with the declaration's own mend. */
export const addFormFindings = (errors: Findings, input: unknown, issues: readonly z.core.$ZodIssue[]): void => {
  for (const issue of issues) {
    if (errors.full) return
    if (issue.code === 'unrecognized_keys') {
      const object = valueAt(input, issue.path)
      const known = namesAt(issue.path, valueAt(object, ['type']))
      for (const key of issue.keys) {
        if (errors.full) return
        const meant = nearest(key, known)
        errors.add(
          pointer([...issue.path, key]),
          `There is no field ${shown(key)} here.`,
          meant === undefined ? `Remove it. The fields are ${known.join(', ')}.` : `Did you mean ${shown(meant)}?`,
        )
      }
    } else {
      const missing = valueAt(input, issue.path) === undefined
      errors.add(pointer(issue.path), messageOf(issue, missing), fixAt(issue.path))
    }
  }
}
