import { expect, test } from 'vitest'
import { matches } from '#local/aws/pattern.ts'

const event = {
  source: 'platform',
  'detail-type': 'run.failed',
  detail: { n: 5, status: 'failed', tags: ['a', 'b'], nested: { ok: true }, nothing: null, list: [{ k: 1 }, { k: 2 }] },
}

test.each([
  [{ source: ['platform'] }, true],
  [{ source: ['other', 'platform'] }, true],
  [{ source: ['other'] }, false],
  [{ 'detail-type': [{ prefix: 'run.' }] }, true],
  [{ 'detail-type': [{ prefix: 'task.' }] }, false],
  [{ 'detail-type': [{ prefix: { 'equals-ignore-case': 'RUN' } }] }, true],
  [{ 'detail-type': [{ suffix: '.failed' }] }, true],
  [{ 'detail-type': [{ 'anything-but': ['run.failed'] }] }, false],
  [{ 'detail-type': [{ 'anything-but': 'x' }] }, true],
  [{ 'detail-type': [{ 'anything-but': { prefix: 'run.' } }] }, false],
  [{ 'detail-type': [{ wildcard: 'run.*d' }] }, true],
  [{ 'detail-type': [{ wildcard: 'run+*' }] }, false],
  [{ detail: { status: [{ 'equals-ignore-case': 'FAILED' }] } }, true],
  [{ detail: { n: [{ numeric: ['>', 4, '<=', 5] }] } }, true],
  [{ detail: { n: [{ numeric: ['<', 5] }] } }, false],
  [{ detail: { status: [{ numeric: ['=', 5] }] } }, false],
  [{ detail: { tags: ['b'] } }, true],
  [{ detail: { tags: ['c'] } }, false],
  [{ detail: { nested: { ok: [true] } } }, true],
  [{ detail: { nothing: [null] } }, true],
  [{ detail: { status: [{ exists: true }] } }, true],
  [{ detail: { missing: [{ exists: false }] } }, true],
  [{ detail: { missing: [{ exists: true }] } }, false],
  [{ detail: { missing: [{ 'anything-but': 'x' }] } }, false],
  [{ detail: { missing: { deeper: ['x'] } } }, false],
  [{ detail: { list: { k: [2] } } }, true],
  [{ $or: [{ source: ['other'] }, { detail: { n: [5] } }] }, true],
  [{ $or: [{ source: ['other'] }, { detail: { n: [6] } }] }, false],
])('%j → %s', (pattern, expected) => {
  expect(matches(pattern, event)).toBe(expected)
})

test('an unknown operator is an error, not a silent miss', () => {
  expect(() => matches({ source: [{ matches: 'x' }] }, event)).toThrow(/Unknown operator/)
})
