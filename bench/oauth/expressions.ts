import { isDeepStrictEqual } from 'node:util'

/**
 * The expressions that shared/table/expressions.ts writes, and no others, as functions. Each text is read once: there are
 * as many as there are kinds of writes.
 */

export type Item = Record<string, unknown>
export type Names = Record<string, string>
export type Values = Record<string, unknown>

type Condition = (item: Item, names: Names, values: Values) => boolean
type Update = (item: Item, names: Names, values: Values) => Item

const memo = <T>(parse: (text: string) => T): ((text: string) => T) => {
  const known = new Map<string, T>()
  return (text) => {
    const parsed = known.get(text) ?? parse(text)
    known.set(text, parsed)
    return parsed
  }
}

/** All the parts of a condition, joined by AND. */
export const parseCondition = memo((text: string): Condition => {
  const parts = text.split(' AND ').map(parsePart)
  return (item, names, values) => parts.every((part) => part(item, names, values))
})

const parsePart = (text: string): Condition => {
  const either = /^\((.*)\)$/.exec(text)?.[1]
  if (either !== undefined) {
    const parts = either.split(' OR ').map(parsePart)
    return (item, names, values) => parts.some((part) => part(item, names, values))
  }
  const [, not, present] = /^attribute_(not_)?exists\((#\w+)\)$/.exec(text) ?? []
  if (present) return (item, names) => (item[names[present] ?? ''] === undefined) === (not !== undefined)
  const [, one, list] = /^(#\w+) IN \(([^)]+)\)$/.exec(text) ?? []
  if (one && list) {
    const slots = list.split(', ')
    return (item, names, values) => slots.some((slot) => compare(item[names[one] ?? ''], '=', values[slot]))
  }
  const [, name, sign, value] = /^(#\w+) (=|<=|<) (:\w+)$/.exec(text) ?? []
  if (!name || !sign || !value) throw new Error(`no such condition: ${text}`)
  return (item, names, values) => compare(item[names[name] ?? ''], sign, values[value])
}

/** Values of two types are never equal and have no order; a missing one has neither. */
const compare = (a: unknown, sign: string, b: unknown): boolean => {
  if (a === undefined || typeof a !== typeof b) return false
  if (sign === '=') return isDeepStrictEqual(a, b)
  const [x, y] = [a as number, b as number]
  return sign === '<' ? x < y : x <= y
}

/** A new item: SET reads the old one, then REMOVE. */
export const parseUpdate = memo((text: string): Update => {
  const [, set, remove] = /^(?:SET (.+?))? ?(?:REMOVE (.+))?$/.exec(text) ?? []
  const assignments = (set?.split(/, (?=#\w+ = )/) ?? []).map(parseAssignment)
  const removed = remove?.split(', ') ?? []
  return (item, names, values) => {
    const changed = { ...item }
    for (const { name, value } of assignments) changed[names[name] ?? ''] = value(item, names, values)
    for (const name of removed) delete changed[names[name] ?? '']
    return changed
  }
})

const parseAssignment = (
  text: string,
): { name: string; value: (item: Item, names: Names, values: Values) => unknown } => {
  const [, name = '', right = ''] = /^(#\w+) = (.+)$/.exec(text) ?? []
  if (/^:\w+$/.test(right)) return { name, value: (_, __, values) => values[right] }
  const [, none = '', more = ''] =
    /^if_not_exists\(#\w+, (:\w+)\) \+ (:\w+)$/.exec(right) ??
    /^list_append\(if_not_exists\(#\w+, (:\w+)\), (:\w+)\)$/.exec(right) ??
    []
  if (!none || !more) throw new Error(`no such assignment: ${text}`)
  const appends = right.startsWith('list_append')
  return {
    name,
    value: (item, names, values) => {
      const old = item[names[name] ?? ''] ?? values[none]
      const added = values[more]
      return appends ? [...(old as unknown[]), ...(added as unknown[])] : (old as number) + (added as number)
    },
  }
}
