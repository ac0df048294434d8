import * as z from 'zod'
import { appendPointer, type Findings, quoteName } from '#shared/kernel/json-schema/finding.ts'
import { nearest } from '#shared/kernel/nearest.ts'
import { manifestSchema } from './schema.ts'

const pointer = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((at, step) => appendPointer(at, String(step)), '')

const unwrapped = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema

/** Returns the declarations for a path of the manifest. There are several if the runtime may be of either kind. */
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
    [manifestSchema()],
  )

/** Returns the fix of the declaration at this path, or of the closest enclosing one. */
const fixAt = (path: readonly PropertyKey[]): string => {
  const metas = declaredAt(path).flatMap((schema) =>
    [schema, unwrapped(schema)].map((candidate) => z.globalRegistry.get(candidate)),
  )
  const fix = metas.find((meta) => typeof meta?.fix === 'string')?.fix
  return typeof fix === 'string' || path.length === 0 ? String(fix) : fixAt(path.slice(0, -1))
}

/** Returns the field names of the object at this path. For a runtime, returns only those of its kind. */
const namesAt = (path: readonly PropertyKey[], kind: unknown): string[] =>
  declaredAt(path)
    .map(unwrapped)
    .flatMap((schema) => (schema instanceof z.ZodDiscriminatedUnion ? schema.options.map(unwrapped) : [schema]))
    .flatMap((schema) => (schema instanceof z.ZodObject ? [schema.shape as Record<string, z.core.$ZodType>] : []))
    .filter(({ type }) => !(type instanceof z.ZodLiteral) || kind === undefined || type.value === kind)
    .flatMap(Object.keys)

const messageOf = (issue: z.core.$ZodIssue, isMissing: boolean): string => {
  if (isMissing) return 'The field is missing.'
  switch (issue.code) {
    case 'invalid_type':
      return `The value must be ${issue.expected === 'record' ? 'an object' : `of type ${issue.expected}`}.`
    case 'too_small':
      return issue.origin === 'string' ? 'The value is empty.' : `The value must be at least ${String(issue.minimum)}.`
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `The value must be at most ${String(issue.maximum)}.`
        : `The value has more than ${String(issue.maximum)} ${issue.origin === 'array' ? 'entries' : 'characters'}.`
    case 'invalid_format':
      return `The value ${issue.message}.`
    case 'invalid_union':
      return 'The type must be "webhook", "inline" or "a2a".'
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

/** Converts the schema library's issues into findings, one per unknown field, each with the declaration's fix. */
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
          `${quoteName(key)} is not a known field.`,
          meant === undefined
            ? `Remove it. Known fields are ${known.join(', ')}.`
            : `Did you mean ${quoteName(meant)}?`,
        )
      }
    } else {
      const isMissing = valueAt(input, issue.path) === undefined
      errors.add(pointer(issue.path), messageOf(issue, isMissing), fixAt(issue.path))
    }
  }
}
