import { describe, expect, it } from 'vitest'
import { currentShapes, findIncompatibilities, type Shape } from './compare.ts'
import { readRecorded } from './recorded.ts'

it('the shapes of all records are the recorded ones; after a change, run `npm run record -- shapes`', () => {
  expect(currentShapes()).toEqual(readRecorded().shapes)
})

describe('a shape', () => {
  const field = { type: 'string' }
  const shape = (properties: object, required: string[], change: Partial<Shape> = {}): Shape => ({
    pk: 'A#{id}',
    sk: 'A',
    places: [],
    schema: { type: 'object', properties, required },
    ...change,
  })
  const before = shape({ id: field, state: { type: 'string', enum: ['on', 'off'] }, note: field }, ['id', 'state'])

  it.each<[what: string, after: Shape]>([
    ['nothing', before],
    ['a field that may be absent', shape({ ...properties(before), more: field }, ['id', 'state'])],
    [
      'a value',
      shape({ ...properties(before), state: { type: 'string', enum: ['on', 'off', 'new'] } }, ['id', 'state']),
    ],
  ])('that adds %s is understood by both versions', (_, after) => {
    expect(findIncompatibilities(before, after)).toEqual([])
  })

  it.each<[what: string, after: Shape, difference: string]>([
    ['another key', { ...before, sk: 'B' }, 'the key was A#{id} A'],
    ['a new index', { ...before, places: ['due'] }, 'due: older records lack it'],
    [
      'a new required field',
      shape({ ...properties(before), more: field }, ['id', 'state', 'more']),
      'more: older records lack it',
    ],
    [
      'a removed field',
      shape({ id: field, state: properties(before).state }, ['id', 'state']),
      'note: code of the previous version relies on it',
    ],
    [
      'a field that became optional',
      shape(properties(before), ['id']),
      'state: code of the previous version relies on it',
    ],
    ['another type', shape({ ...properties(before), note: { type: 'number' } }, ['id', 'state']), 'note: was "string"'],
    [
      'a removed value',
      shape({ ...properties(before), state: { type: 'string', enum: ['on'] } }, ['id', 'state']),
      'state: older records may have "off"',
    ],
  ])('with %s is not understood by both', (_, after, difference) => {
    expect(findIncompatibilities(before, after)).toEqual([difference])
  })

  it('is compared within lists and objects', () => {
    const nested = (inner: object) =>
      shape({ list: { type: 'array', items: { type: 'object', properties: inner } } }, [])
    expect(findIncompatibilities(nested({ a: field }), nested({ a: { type: 'number' } }))).toEqual([
      'list[].a: was "string"',
    ])
  })
})

function properties({ schema }: Shape): Record<string, unknown> {
  return schema.properties as Record<string, unknown>
}
