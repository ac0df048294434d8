import { describe, expect, test } from 'vitest'
import { formatEntry, rawEntry } from '#local/logs.ts'

const at = new Date('2026-11-21T10:15:30.123Z')
const line = (fields: object | string) => ({
  kind: 'function' as const,
  at,
  functionName: 'api',
  line: typeof fields === 'string' ? fields : JSON.stringify(fields),
})

describe('a readable line', () => {
  test('has the time, the function, the message and what is particular', () => {
    const entry = line({
      level: 'INFO',
      message: 'run started',
      run_id: 'run_1',
      timestamp: 'x',
      function_name: 'y',
      n: 2,
    })
    expect(formatEntry(entry, false)).toBe('10:15:30.123 api              run started run_id=run_1 n=2')
  })

  test('names the level when it is not info, and shows an error’s trace', () => {
    const entry = line({ level: 'ERROR', message: 'failed', error: { name: 'E', message: 'm', stack: 'E: m\n  at x' } })
    expect(formatEntry(entry, false)).toBe('10:15:30.123 api              error failed \nE: m\n  at x')
  })

  test('is the text itself when that is no JSON', () => {
    expect(formatEntry(line('plain'), false)).toBe('10:15:30.123 api              plain')
    expect(formatEntry(line('{broken'), false)).toBe('10:15:30.123 api              {broken')
  })

  test('is not printed for metrics', () => {
    expect(formatEntry(line({ _aws: {}, Requests: 1 }), false)).toBeUndefined()
  })

  test('has colours for terminals only', () => {
    const colour = String.fromCharCode(27)
    expect(formatEntry(line({ message: 'x' }), true)).toContain(colour)
    expect(formatEntry(line({ message: 'x' }), false)).not.toContain(colour)
  })

  test('of a request says what was answered, by whom and how fast, without the query', () => {
    const request = { requestId: 'r', method: 'GET', path: '/v1', status: 200, durationMs: 4, functionName: 'api' }
    expect(formatEntry({ kind: 'access', at, ...request }, false)).toBe(
      '10:15:30.123 api              200 GET /v1 4 ms',
    )
  })
})

test('raw entries are JSON lines; a function’s own stay as they are', () => {
  expect(rawEntry(line({ a: 1 }))).toBe('{"a":1}')
  expect(JSON.parse(rawEntry(line('plain')))).toMatchObject({ kind: 'function', line: 'plain' })
})
