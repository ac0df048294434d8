import { expect, it } from 'vitest'
import { readNumber } from '#shared/work/approval-rules/read-number.ts'

const inBody = (body: unknown): number | undefined => readNumber({ body }, 'body.amount')

it.each([
  ['JSON', '{"amount": 12.5}', 12.5],
  ['JSON with the number as text', '{"amount":"12.50"}', 12.5],
  ['JSON with the name in another case', '{"Amount":7}', 7],
  ['a form', 'note=a%20b&amount=7', 7],
  ['an object', { amount: 7 }, 7],
])('reads a number from %s', (_name, body, amount) => expect(inBody(body)).toBe(amount))

it.each([
  ['a name twice', '{"amount":9000,"amount":1}'],
  ['a name twice, once escaped', '{"amount":9000,"\\u0061mount":1}'],
  ['a name twice in different cases', '{"AMOUNT":9000,"amount":1}'],
  ['a name twice in another place', '{"amount":1,"x":{"y":1,"y":2}}'],
  ['a form with a field twice', 'amount=9000&amount=1'],
  ['a form with an escaped field again', 'amount=9000&%61mount=1'],
  ['a form with a field in another case', 'amount=9000&Amount=1'],
  ['a hexadecimal number', '{"amount":"0x10"}'],
  ['a currency', '{"amount":"9,000"}'],
  ['an infinite number', '{"amount":1e999}'],
  ['a list', '[{"amount":1},{"amount":9000}]'],
  ['text that is no JSON', '{"amount":1'],
  ['no body', undefined],
])('reads nothing from %s', (_name, body) => expect(inBody(body)).toBeUndefined())

it('reads the query of the address', () => {
  expect(readNumber({ url: 'https://example.com/pay?amount=5' }, 'query.amount')).toBe(5)
  expect(readNumber({ url: 'https://example.com/pay?amount=5&amount=6' }, 'query.amount')).toBeUndefined()
})
