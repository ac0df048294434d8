import { describe, expect, it } from 'vitest'
import { meaningOf } from '#shared/work/runs/index.ts'

describe('a step with a meaning', () => {
  it.each([
    ['progress', { progress: 1, total: 4, message: 'Reading' }],
    ['log', { level: 'warning', data: { left: 3 }, logger: 'stock' }],
    ['artifact', { artifact_id: 'a', parts: [{ text: 'one' }], append: true, last_chunk: true }],
  ])('of the type %s is read, without fields that the type doesn’t have', (type, output) => {
    expect(meaningOf({ type, output: { ...output, other: 1 } })).toEqual({ type, ...output })
  })

  it.each([
    ['another type', 'message', { progress: 1 }],
    ['the name of a built-in property', 'constructor', {}],
    ['progress that isn’t a number', 'progress', { progress: 'half' }],
    ['an unknown level', 'log', { level: 'loud', data: 1 }],
    ['parts that are no list', 'artifact', { parts: {} }],
  ])('isn’t one with %s', (_, type, output) => {
    expect(meaningOf({ type, output })).toBeUndefined()
  })
})
