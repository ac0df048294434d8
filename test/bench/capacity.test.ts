import { describe, expect, it } from 'vitest'
import { getUnits, indexUnits, itemSize, queryUnits, valueSize, writeUnits } from '#bench/capacity.ts'

const indexes = [
  { partitionKey: 'duepk', sortKey: 'duesk' },
  { partitionKey: 'listpk', sortKey: 'listsk' },
]
const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - 1) })

describe('the size of an item', () => {
  it('counts the UTF-8 bytes of names and values', () => {
    expect(itemSize({ pk: 'a', name: 'Zoë' })).toBe(2 + 1 + 4 + 4)
  })

  it.each([
    ['null', null, 1],
    ['a boolean', true, 1],
    ['zero', 0, 1],
    ['two digits', 27, 2],
    ['three digits', 123, 3],
    ['trailing zeroes, which are trimmed', 1_700_000_000_000, 2],
    ['a time in ms', 1_763_700_123_456, 8],
    ['leading zeroes of a fraction, which are trimmed', 0.005, 2],
    ['a minus sign', -27, 3],
    ['an exponent', 1e21, 2],
    ['bytes', new Uint8Array(7), 7],
    ['a set', new Set(['ab', 'c']), 3],
    ['an empty list', [], 3],
    ['a list', ['ab', 1], 3 + (1 + 2) + (1 + 2)],
    ['an empty map', {}, 3],
    ['a map', { key: 'ab' }, 3 + (1 + 3 + 2)],
    ['a map with a field that is not stored', { key: 'ab', gone: undefined }, 3 + (1 + 3 + 2)],
  ])('knows the size of %s', (_, value, bytes) => {
    expect(valueSize(value)).toBe(bytes)
  })

  it('refuses values that DynamoDB can’t store', () => {
    expect(() => valueSize(() => 1)).toThrow(TypeError)
  })
})

describe('read units', () => {
  it('round each item up to 4 KB; an eventually consistent read costs half', () => {
    expect(getUnits(ofBytes(4_096), true)).toBe(1)
    expect(getUnits(ofBytes(4_097), true)).toBe(2)
    expect(getUnits(ofBytes(4_097), false)).toBe(1)
  })

  it('are charged for a missing item, too', () => {
    expect(getUnits(undefined, true)).toBe(1)
    expect(getUnits(undefined, false)).toBe(0.5)
  })

  it('of a query round up the sum of the sizes', () => {
    const items = Array.from({ length: 20 }, () => ofBytes(500))
    expect(queryUnits(items, true)).toBe(3)
    expect(queryUnits(items, false)).toBe(1.5)
    expect(queryUnits([], true)).toBe(1)
  })
})

describe('write units', () => {
  it('round up the larger of the old and the new item to 1 KB', () => {
    expect(writeUnits(undefined, ofBytes(1_024), false)).toBe(1)
    expect(writeUnits(ofBytes(3_000), ofBytes(10), false)).toBe(3)
    expect(writeUnits(ofBytes(3_000), undefined, false)).toBe(3)
  })

  it('double in a transaction, and are at least one', () => {
    expect(writeUnits(undefined, ofBytes(1_025), true)).toBe(4)
    expect(writeUnits(undefined, undefined, true)).toBe(2)
  })
})

describe('write units of a keys-only index', () => {
  const units = (before: Record<string, unknown> | undefined, after: Record<string, unknown> | undefined) =>
    indexUnits(before, after, ['pk', 'sk'], indexes)
  const base = { pk: 'a', sk: 'b' }
  const due = { ...base, duepk: 'DUE#0', duesk: '1' }

  it('are one for a new entry, and one for a removed entry', () => {
    expect(units(undefined, due)).toBe(1)
    expect(units(base, due)).toBe(1)
    expect(units(due, base)).toBe(1)
    expect(units(due, undefined)).toBe(1)
  })

  it('are two for an entry that moves', () => {
    expect(units(due, { ...due, duesk: '2' })).toBe(2)
    expect(units(due, { ...due, duepk: 'DUE#1' })).toBe(2)
  })

  it('are zero while its key stays the same, whatever else changes', () => {
    expect(units(due, { ...due, name: 'x'.repeat(5_000) })).toBe(0)
  })

  it('are zero for an item without a complete key', () => {
    expect(units(undefined, { ...base, duepk: 'DUE#0' })).toBe(0)
  })

  it('add up over the indexes', () => {
    expect(units(undefined, { ...due, listpk: 'L', listsk: '1' })).toBe(2)
  })
})
