import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readNumber } from '#shared/work/approval-rules/read-number.ts'
import { SEED, sampleSize } from '#testkit/sampling.ts'
import { using } from '#testkit/using.ts'
import { contradiction, type Recorded, VECTORS } from './readings/contradiction.ts'
import { startExpress } from './readings/express.ts'
import { callOf, requests } from './readings/requests.ts'

const json = (body: string) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body })
const form = (body: string) => ({ ...json(body), headers: { 'content-type': 'application/x-www-form-urlencoded' } })
const read = (call: object, field = 'body.amount') => readNumber({ url: 'https://bank.example/', ...call }, field)

describe('a number is read', () => {
  it.each([
    ['from JSON', json('{"amount": 12.5}'), 12.5],
    ['from JSON with the number as text', json('{"amount":"12.50"}'), 12.5],
    ['from a form', form('note=a%20b&amount=7'), 7],
    ['from a form with other names in brackets', form('metadata[amount]=9&amount=7&&'), 7],
  ])('%s', (_name, call, value) => expect(read(call)).toEqual({ value }))

  it('from an object within JSON', () => {
    expect(read(json('{"pay":{"amount":5}}'), 'body.pay.amount')).toEqual({ value: 5 })
  })

  it('from the query and from a header', () => {
    expect(read({ url: 'https://bank.example/?amount=5#amount=6' }, 'query.amount')).toEqual({ value: 5 })
    expect(read({ headers: { 'X-Amount': '5' } }, 'headers.x-amount')).toEqual({ value: 5 })
  })
})

describe('a number is left unread', () => {
  it.each([
    ['missing', json('{}')],
    ['missing', {}],
    ['missing', json('[{"amount":1},{"amount":9000}]')],
    ['content_type', { method: 'POST', body: '{"amount":5}' }],
    ['content_type', { ...json('{"amount":5}'), headers: { 'content-type': 'application/json, text/plain' } }],
    ['method', { ...json('{"amount":5}'), method: 'GET' }],
    ['method', { ...form('amount=5'), method: 'DELETE' }],
    ['malformed', json('{"amount":1')],
    ['malformed', json(`{"amount":1,"x":${'['.repeat(40)}${']'.repeat(40)}}`)],
    ['malformed', form(`amount=5${'&a=1'.repeat(600)}`)],
    ['malformed', form('amount=5&note=%ff')],
    ['malformed', { url: 'nowhere', ...json('{"amount":1}') }],
    ['ambiguous', json('{"amount":9000,"amount":1}')],
    ['ambiguous', json('{"amount":9000,"\\u0061mount":1}')],
    ['ambiguous', json('{"AMOUNT":9000,"amount":1}')],
    ['ambiguous', json('{"amount":1,"x":{"y":1,"y":2}}')],
    ['ambiguous', form('amount=9000&amount=1')],
    ['ambiguous', form('amount=9000&%61mount=1')],
    ['ambiguous', form('amount=9000&Amount=1')],
    ['not_a_number', json('{"amount":"0x10"}')],
    ['not_a_number', json('{"amount":"9,000"}')],
    ['not_a_number', json('{"amount":1e999}')],
    ['not_a_number', json('{"amount":null}')],
    ['not_a_number', form('amount')],
  ])('%s: %j', (unread, call) => expect(read(call)).toEqual({ unread }))

  it('if two values are in the query', () => {
    expect(read({ url: 'https://bank.example/?amount=5&amount=6' }, 'query.amount')).toEqual({ unread: 'ambiguous' })
  })
})

it('names that differ only in the case of any script, or in width, are the same', () => {
  // The regular expression folds as CaseFolding.txt of Unicode says, which is what Go does.
  const letters = Array.from({ length: 0x1e944 }, (_, i) => i)
    .filter((i) => i < 0xd800 || i > 0xdfff)
    .map((i) => String.fromCodePoint(i))
  const cased = letters.filter((c) => /^\p{L}$/u.test(c) && c.toLowerCase() !== c.toUpperCase())
  const wrong = cased.filter((c) =>
    [c.toLowerCase(), c.toUpperCase()].some(
      (other) =>
        new RegExp(`^${c}$`, 'iu').test(other) &&
        read(json(JSON.stringify({ [c]: 5, [`${other}-`]: 9 })), `body.${c}`).unread !== 'ambiguous',
    ),
  )
  expect(wrong).toEqual([])
})

describe('what a rule reads is what receivers read of the same bytes, or it reads nothing:', () => {
  const express = using(startExpress, ({ close }) => close())
  const [versions, ...recorded] = readFileSync(VECTORS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

  it(`Flask, FastAPI and Go, as recorded (${Object.values(versions).join(', ')})`, () => {
    expect(recorded.flatMap((one: Recorded) => contradiction(one, one.read) ?? [])).toEqual([])
    const read = recorded.filter((one: Recorded) => readNumber(callOf(one), one.field).value !== undefined)
    expect(read.length).toBeGreaterThan(recorded.length / 10)
  })

  it('Express 5, also for the recorded requests', async () => {
    const all = [...recorded, ...fc.sample(requests(), { numRuns: sampleSize(2_500), seed: SEED })]
    const wrong = []
    for (const sent of all) wrong.push(contradiction(sent, { express: await express.read(sent) }) ?? [])
    expect(wrong.flat()).toEqual([])
  })
})
