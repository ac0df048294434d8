import { describe, expect, test } from 'vitest'
import { formatEntry, rawEntry } from '#local/logs.ts'

const at = new Date('2026-11-21T10:15:30.123Z')
const line = (fields: object | string) => ({
  kind: 'function' as const,
  at,
  functionName: 'api',
  line: typeof fields === 'string' ? fields : JSON.stringify(fields),
})

describe('a readable log line', () => {
  test('has the time, the function, the message and its fields', () => {
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

  test('is the text itself when it isn’t JSON', () => {
    expect(formatEntry(line('plain'), false)).toBe('10:15:30.123 api              plain')
    expect(formatEntry(line('{broken'), false)).toBe('10:15:30.123 api              {broken')
  })

  test('is not printed for metrics', () => {
    expect(formatEntry(line({ _aws: {}, Requests: 1 }), false)).toBeUndefined()
  })

  test('is not printed for a request a second time', () => {
    expect(formatEntry(line({ message: 'request', endpoint: 'api.me.get', status: 200 }), false)).toBeUndefined()
    expect(formatEntry(line({ message: 'request' }), false)).toContain('request')
  })

  test('has colours only in terminals', () => {
    const colour = String.fromCharCode(27)
    expect(formatEntry(line({ message: 'x' }), true)).toContain(colour)
    expect(formatEntry(line({ message: 'x' }), false)).not.toContain(colour)
  })

  test('of a request shows the status, the function and the duration, without the query', () => {
    const request = { requestId: 'r', method: 'GET', path: '/v1', status: 200, durationMs: 4, functionName: 'api' }
    expect(formatEntry({ kind: 'access', at, ...request }, false)).toBe(
      '10:15:30.123 api              200 GET /v1 4 ms',
    )
  })
})

test('raw entries are JSON lines; a function’s own stay unchanged', () => {
  expect(rawEntry(line({ a: 1 }))).toBe('{"a":1}')
  expect(JSON.parse(rawEntry(line('plain')))).toMatchObject({ kind: 'function', line: 'plain' })
})
