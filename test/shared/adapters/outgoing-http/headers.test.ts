import { describe, expect, test } from 'vitest'
import { invalidHeaderReason } from '#shared/adapters/outgoing-http/headers.ts'

describe('refusedHeaders', () => {
  test.each([
    [{ 'x-a': 'b\r\nHost: evil' }],
    [{ 'x-a': 'b\nc' }],
    [{ 'x-a': 'b\rc' }],
    [{ 'x-a': 'b\0c' }],
    [{ 'x-a': 'snow\u2603' }],
    [{ 'x-a\r\nx-b': 'c' }],
    [{ 'x a': 'b' }],
    [{ 'x-a:': 'b' }],
    [{ '': 'b' }],
    [{ host: 'evil' }],
    [{ 'Transfer-Encoding': 'chunked' }],
    [{ 'Content-Length': '5' }],
  ])('%j can’t be sent', (headers) => expect(invalidHeaderReason(headers as Record<string, string>)).toMatch(/header/i))

  test('ordinary headers can be sent', () => {
    expect(
      invalidHeaderReason({ Accept: 'a/b', 'X-SVC-Event': 'run.execute', 'x-tab': 'a\tb', 'x-latin': 'é' }),
    ).toBeUndefined()
  })
})
