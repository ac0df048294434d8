import { describe, expect, it } from 'vitest'
import { partsOf } from '#web/console/client/ui/call-parts.ts'
import { diffCalls } from '#web/console/client/ui/diff-calls.ts'
import { leavesOf, parseExact } from '#web/console/client/ui/exact-json.ts'

const fetching = (fields: object): string => JSON.stringify({ url: 'https://api.example.com/', ...fields })

describe('JSON as it was written', () => {
  it('keeps a key that comes twice, and every digit of a number', () => {
    const value = parseExact('{"amount": 1, "amount": 9000.10, "id": 12345678901234567890}')
    expect(value && leavesOf(value)).toEqual([
      ['amount', '1'],
      ['amount (2)', '9000.10'],
      ['id', '12345678901234567890'],
    ])
  })

  it('keeps brackets and quotes within texts, and empty values', () => {
    const value = parseExact('{"a":"}{\\"[","b":[],"c":{},"d":[1,null]}')
    expect(value && leavesOf(value)).toEqual([
      ['a', '"}{\\"["'],
      ['b', '[]'],
      ['c', '{}'],
      ['d › 1', '1'],
      ['d › 2', 'null'],
    ])
  })

  it.each(['', 'text', '7', '{"open":', `${'['.repeat(30_000)}${']'.repeat(30_000)}`])(
    'takes no other text',
    (text) => {
      expect(parseExact(text)).toBeUndefined()
    },
  )
})

describe('the parts of a call', () => {
  it('are its query, headers and body, and what has no form of its own', () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const call = fetching({ url: 'https://api.example.com/a?x=1&x=b%20c', headers, body: 'n=1&m=a+b', timeout: 3 })
    expect(partsOf('http_fetch', call)).toEqual([
      {
        name: 'Query',
        kind: 'table',
        rows: [
          ['x', '1'],
          ['x', 'b c'],
        ],
      },
      { name: 'Headers', kind: 'table', rows: [['content-type', headers['content-type']]] },
      {
        name: 'Body',
        kind: 'table',
        rows: [
          ['n', '1'],
          ['m', 'a b'],
        ],
      },
      {
        name: 'Other',
        kind: 'tree',
        value: { kind: 'object', entries: [{ name: 'timeout', value: { kind: 'plain', text: '3' } }] },
      },
    ])
  })

  it('show a body as text if it is neither JSON nor a form', () => {
    expect(partsOf('http_fetch', fetching({ body: '{"broken"' }))).toEqual([
      { name: 'Body', kind: 'text', text: '{"broken"' },
    ])
  })
})

describe('the body of a call is shown as its receiver reads it', () => {
  const both = '{"amount":5,"note":"&amount=9999&x="}'
  const bodyOf = (type?: string) =>
    partsOf('http_fetch', fetching({ ...(type && { headers: { 'Content-Type': type } }), body: both })).at(-1)

  it('a form that looks like JSON is a form', () => {
    expect(bodyOf('application/x-www-form-urlencoded')).toMatchObject({
      kind: 'table',
      rows: expect.arrayContaining([['amount', '9999']]),
    })
  })

  it.each(['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json'])(
    '%s is JSON',
    (type) => expect(bodyOf(type)?.kind).toBe('tree'),
  )

  it.each([undefined, 'text/plain', 'multipart/form-data; boundary=x', 'application/jsonx'])('%s is text', (type) =>
    expect(bodyOf(type)).toEqual({ name: 'Body', kind: 'text', text: both }),
  )
})

describe('the differences between two calls', () => {
  it('are none for equal calls', () => {
    expect(diffCalls('http_fetch', fetching({ body: '{"a":1}' }), fetching({ body: '{"a":1}' }))).toEqual([])
  })

  it('name each value that was added, removed or changed, also the second of a key', () => {
    const json = { 'content-type': 'application/json' }
    const before = fetching({ headers: { ...json, 'x-old': '1' }, body: '{"amount":10}' })
    const after = fetching({ url: 'https://api.example.com/b', headers: json, body: '{"amount":10,"amount":9000}' })
    expect(diffCalls('http_fetch', before, after)).toEqual([
      { place: 'Address', before: 'https://api.example.com/', after: 'https://api.example.com/b' },
      { place: 'Body › amount (2)', after: '9000' },
      { place: 'Headers › x-old', before: '1' },
    ])
  })
})
