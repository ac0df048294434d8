import { checkOperands } from './limits.ts'

/** Comparison in a condition. Built by the helpers below, so that expression strings exist only in this file. */
export interface Test {
  readonly test: '=' | '<' | '<=' | '>=' | 'in' | 'exists' | 'missing' | 'either'
  readonly value?: unknown
}

const test = (kind: Test['test'], value?: unknown): Test => ({ test: kind, value })

export const lt = (value: number | string): Test => test('<', value)
export const lte = (value: number | string): Test => test('<=', value)
export const gte = (value: number | string): Test => test('>=', value)
export const oneOf = (...values: (string | number | boolean)[]): Test => test('in', values)
export const exists: Test = test('exists')
export const missing: Test = test('missing')
/** Passes if any of the tests on this field passes. */
export const either = (...tests: Test[]): Test => test('either', tests)

/** Conditions on an item's fields. All must hold. A plain value means equality. */
export type Where<T> = { [K in keyof T]?: T[K] | Test | undefined }

/** Changes to an item. A `set` of undefined removes the field. */
export interface Changes<T> {
  set?: { [K in keyof T]?: T[K] | undefined }
  /** Adds to a number. An absent number counts as 0. */
  add?: { [K in keyof T]?: number }
  /** Appends to a list. An absent list counts as empty. */
  append?: { [K in keyof T]?: unknown[] }
  /** New place in the owner's narrowed list, if the change moves the item. Null removes it from the list. */
  list?: { owner: string; sort: string } | null
}

const isTest = (value: unknown): value is Test =>
  typeof value === 'object' && value !== null && 'test' in value && typeof value.test === 'string'

/** Collects the names and values of one request's expressions. */
export class Expressions {
  readonly names: Record<string, string> = {}
  readonly values: Record<string, unknown> = {}
  #count = 0

  name(field: string): string {
    const slot = `#${field.replaceAll(/\W/g, '_')}`
    this.names[slot] = field
    return slot
  }

  value(value: unknown): string {
    const slot = `:v${this.#count++}`
    this.values[slot] = value
    return slot
  }

  condition(where: Record<string, unknown>): string | undefined {
    const parts = Object.entries(where)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => this.#comparison(this.name(field), isTest(value) ? value : test('=', value)))
    return parts.length ? parts.join(' AND ') : undefined
  }

  #comparison(name: string, { test: kind, value }: Test): string {
    switch (kind) {
      case 'exists':
        return `attribute_exists(${name})`
      case 'missing':
        return `attribute_not_exists(${name})`
      case 'in':
        checkOperands(name, value as unknown[])
        return `${name} IN (${(value as unknown[]).map((allowed) => this.value(allowed)).join(', ')})`
      case 'either':
        return `(${(value as Test[]).map((alternative) => this.#comparison(name, alternative)).join(' OR ')})`
      default:
        return `${name} ${kind} ${this.value(value)}`
    }
  }

  update(changes: Changes<Record<string, unknown>>): string {
    const set: string[] = []
    const remove: string[] = []
    for (const [field, value] of Object.entries(changes.set ?? {})) {
      if (value === undefined) remove.push(this.name(field))
      else set.push(`${this.name(field)} = ${this.value(value)}`)
    }
    for (const [field, amount] of Object.entries(changes.add ?? {})) {
      const name = this.name(field)
      set.push(`${name} = if_not_exists(${name}, ${this.value(0)}) + ${this.value(amount)}`)
    }
    for (const [field, items] of Object.entries(changes.append ?? {})) {
      const name = this.name(field)
      set.push(`${name} = list_append(if_not_exists(${name}, ${this.value([])}), ${this.value(items)})`)
    }
    return [set.length ? `SET ${set.join(', ')}` : '', remove.length ? `REMOVE ${remove.join(', ')}` : '']
      .filter(Boolean)
      .join(' ')
  }

  /** Returns the maps for a request, without empty ones, which DynamoDB rejects. */
  maps(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Record<string, unknown> } {
    return {
      ...(Object.keys(this.names).length && { ExpressionAttributeNames: this.names }),
      ...(Object.keys(this.values).length && { ExpressionAttributeValues: this.values }),
    }
  }
}
