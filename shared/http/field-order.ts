import type * as z from 'zod'
import { isObject } from '../kernel/json-schema/json-object.ts'

/** Puts a value's fields in order. Undefined if a schema has no fields: free-form JSON keeps its order. */
type Order = ((value: unknown) => unknown) | undefined

type Fields = Record<string, unknown>

const made = new WeakMap<z.core.$ZodType, { order: Order }>()

/**
 * Returns the value with the fields of every declared object in schema order. The table returns nested objects in any
 * order. Open parts of the schema (records, unknown) aren't touched, so a client's own JSON keeps its order.
 */
export const orderFields = (schema: z.core.$ZodType, value: unknown): unknown => orderOf(schema)?.(value) ?? value

const orderOf = (schema: z.core.$ZodType): Order => {
  const known = made.get(schema)
  if (known) return known.order
  const order = compile(schema)
  made.set(schema, { order })
  return order
}

const compile = (schema: z.core.$ZodType): Order => {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return fields(def.shape)
    case 'array': {
      const item = orderOf(def.element)
      return item && ((value) => (Array.isArray(value) ? value.map(item) : value))
    }
    case 'union':
      return oneOf(def.options)
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      return orderOf(def.innerType)
    case 'pipe':
      return orderOf(def.out)
    default:
      return undefined
  }
}

const fields = (shape: Readonly<Record<string, z.core.$ZodType>>): Order => {
  const declared = Object.entries(shape).map(([name, schema]) => [name, orderOf(schema)] as const)
  return (value) => {
    if (!isObject(value)) return value
    const ordered: Fields = {}
    for (const [name, order] of declared) {
      const field = value[name]
      if (field !== undefined) ordered[name] = order ? order(field) : field
    }
    // Only tests could notice a field that no schema declares. It stays at the end.
    for (const name of Object.keys(value)) if (!(name in shape)) ordered[name] = value[name]
    return ordered
  }
}

/** Orders an object by the first alternative that declares all of its fields and matches its constants. */
const oneOf = (options: readonly z.core.$ZodType[]): Order => {
  const objects = options.flatMap((option) => {
    const { def } = (option as z.core.$ZodTypes)._zod
    return def.type === 'object' ? [{ shape: def.shape, order: orderOf(option) }] : []
  })
  const others = options.map(orderOf).filter((order) => order !== undefined)
  if (objects.length === 0) return others[0]
  return (value) =>
    isObject(value) ? (objects.find(({ shape }) => isOf(shape, value))?.order?.(value) ?? value) : value
}

const isOf = (shape: Readonly<Record<string, z.core.$ZodType>>, value: Fields): boolean =>
  Object.keys(value).every((name) => name in shape) &&
  Object.entries(shape).every(([name, schema]) => {
    const { def } = (schema as z.core.$ZodTypes)._zod
    return def.type !== 'literal' || def.values.includes(value[name] as never)
  })
