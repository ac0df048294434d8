import { describe, expect, it } from 'vitest'
import { currentShapes, incompatible, type Shape } from './compare.ts'
import { readRecorded } from './recorded.ts'

it('the shapes of all records are those that were agreed to: after a change, run `npm run shapes`', () => {
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
    expect(incompatible(before, after)).toEqual([])
  })

  it.each<[what: string, after: Shape, said: string]>([
    ['another key', { ...before, sk: 'B' }, 'the key was A#{id} A'],
    ['a new index', { ...before, places: ['due'] }, 'due: older records lack it'],
    [
      'a field that must be there',
      shape({ ...properties(before), more: field }, ['id', 'state', 'more']),
      'more: older records lack it',
    ],
    [
      'no field that was there',
      shape({ id: field, state: properties(before).state }, ['id', 'state']),
      'note: code of the version before relies on it',
    ],
    [
      'a field that may be absent now',
      shape(properties(before), ['id']),
      'state: code of the version before relies on it',
    ],
    ['another type', shape({ ...properties(before), note: { type: 'number' } }, ['id', 'state']), 'note: was "string"'],
    [
      'a value less',
      shape({ ...properties(before), state: { type: 'string', enum: ['on'] } }, ['id', 'state']),
      'state: older records may have "off"',
    ],
  ])('with %s is not', (_, after, said) => {
    expect(incompatible(before, after)).toEqual([said])
  })

  it('is compared within lists and objects', () => {
    const nested = (inner: object) =>
      shape({ list: { type: 'array', items: { type: 'object', properties: inner } } }, [])
    expect(incompatible(nested({ a: field }), nested({ a: { type: 'number' } }))).toEqual(['list[].a: was "string"'])
  })
})

function properties({ schema }: Shape): Record<string, unknown> {
  return schema.properties as Record<string, unknown>
}
