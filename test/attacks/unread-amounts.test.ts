import { beforeEach, describe, expect, it } from 'vitest'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const bank = usingReceiver()
beforeEach(() => {
  platform.clock.advance(60_000)
  agent.answer({ kind: 'answer', status: 202 })
  bank.requests.length = 0
})

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** A workspace whose rule asks a second person from 1,000 on, and an agent that asks for a call. */
const asked = async (call: { query?: string; headers?: Record<string, string>; body?: string }, field: string) => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { token } = app.person
  const second_person = { when: 'at_least', field, amount: 1_000 }
  const rules = [{ name: 'Payments', approvers: { role: 'member' }, second_person }]
  await succeeded(platform.call('PUT', '/console/settings/approvals', { token, body: { rules } }))
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const { query, ...rest } = call
  const answer = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: await callbackToken(platform.deps, app, run.id),
    body: { arguments: { url: `${bank.url}/pay${query ?? ''}`, method: 'POST', ...rest } },
  })
  const path = `/console/runs/${run.id}/steps/${answer.body.step_id}`
  const read = async () => (await platform.call('GET', `${path}/approval`, { token })).body.rule
  const approve = (by: { token: string } = app.person) =>
    platform.call('POST', `${path}/decision`, { token: by.token, body: { decision: 'approve' } })
  return { answer, read, approve, another: () => member(platform.deps, app.workspaceId, 'member') }
}

const json = (body: string, type = JSON_TYPE) => ({ headers: { 'Content-Type': type }, body })
const form = (body: string) => json(body, FORM)
const part = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const multipart = (body: string) => json(body, 'multipart/form-data; boundary=x')

describe('a call that one receiver reads as 9999 and a rule could read as 5 isn’t sent with one approval', () => {
  it.each<[trick: string, call: Parameters<typeof asked>[0], field?: string]>([
    ['a form that is also JSON', form('{"amount":5,"x":"&amount=9999&y="}')],
    ['JSON with a form behind it', form('{"amount":5}&amount=9999')],
    ['JSON without a content type', { body: '{"amount":5}' }],
    ['a form without a content type', { body: 'amount=5' }],
    ['JSON as text', json('{"amount":5}', 'text/plain')],
    ['JSON of another charset', json('{"amount":5}', 'application/json; charset=utf-7')],
    ['JSON of a vendor’s type', json('{"amount":5}', 'application/vnd.bank+json')],
    [
      'compressed JSON',
      { ...json('{"amount":5}'), headers: { 'content-type': JSON_TYPE, 'content-encoding': 'deflate' } },
    ],
    ['multipart with a form at its end', multipart(`${part('amount', '9999')}--x--\r\n&amount=5`)],
    ['multipart with a form before it', multipart(`amount=5&x=\r\n${part('amount', '9999')}--x--\r\n`)],
    ['XML with a comment', json('<!--&amount=5&--><pay><amount>9999</amount></pay>', 'application/xml')],
    ['a name in brackets', form('amount=5&[amount]=9999')],
    ['a name with brackets', form('amount=5&amount[]=9999')],
    ['a name with an index', form('amount=5&amount%5B0%5D=9999')],
    ['a name with a space before it', form('amount=5&+amount=9999')],
    ['a name with a space behind it', form('amount=5&amount%20=9999')],
    ['a name that ends with zero', form('amount=5&amount%00x=9999')],
    ['a dot that becomes an underscore', form('pay_amount=5&pay.amount=9999'), 'body.pay_amount'],
    ['a space that becomes an underscore', form('pay_amount=5&pay+amount=9999'), 'body.pay_amount'],
    ['a name in capitals', form('amount=5&AMOUNT=9999')],
    ['a name in capitals alone', json('{"Amount":5}')],
    ['a semicolon', form('amount=5&note=a;amount=9999')],
    ['a broken escape', form('amount=5&amount%=9999')],
    ['JSON names equal under Unicode folding', json('{"sum":5,"\u017fum":9999}'), 'body.sum'],
    ['JSON names equal under compatibility', json('{"amount":5,"ａｍｏｕｎｔ":9999}')],
    ['form names equal under Unicode folding', form('sum=5&%C5%BFum=9999'), 'body.sum'],
    ['JSON with a second value behind it', json('{"amount":5}{"amount":9999}')],
    ['JSON in a text of JSON', json('{"pay":"{\\"amount\\":5}"}'), 'body.pay.amount'],
    ['a dotted name next to an object', json('{"pay":{"amount":5},"pay.amount":9999}'), 'body.pay.amount'],
    ['a list', json('{"pay":[{"amount":5}]}'), 'body.pay.0.amount'],
    ['an exponent', json('{"amount":"9e3"}')],
    ['an octal number', json('{"amount":"0010"}')],
    ['the same name in the address', { query: '?amount=9999', ...form('amount=5') }],
    ['the same name in the address, for JSON', { query: '?amount=9999', ...json('{"amount":5}') }],
    ['the address, and a name in brackets', { query: '?amount=5&amount[]=9999' }, 'query.amount'],
    ['the address, and a name in a bracket', { query: '?amount=5&[amount]=9999' }, 'query.amount'],
    ['the address, and a leading space', { query: '?amount=5&%20amount=9999' }, 'query.amount'],
    ['the address, and a dot', { query: '?pay_amount=5&pay.amount=9999' }, 'query.pay_amount'],
    ['the address, and a form', { query: '?amount=5', ...form('amount=9999') }, 'query.amount'],
    [
      'the address, and a body that can’t be read',
      { query: '?amount=5', ...multipart(part('amount', '9')) },
      'query.amount',
    ],
    [
      'two headers that servers read as one',
      { headers: { 'x-pay-amount': '5', x_pay_amount: '9999' } },
      'headers.x-pay-amount',
    ],
  ])('%s', async (_trick, call, field = 'body.amount') => {
    const { answer, read, approve, another } = await asked(call, field)
    if (answer.status === 422) return
    expect(answer.body.status).toBe('awaiting_approval')
    const { required, reading } = await read()
    expect(required).toBe(2)
    expect(reading).toMatchObject({ field, value: null, unread: expect.any(String) })
    expect((await approve()).body.status).toBe('awaiting_approval')
    await platform.drain()
    expect(bank.requests).toHaveLength(0)
    expect((await approve(await another())).body.status).toBe('running')
    await platform.drain()
    expect(bank.requests).toHaveLength(1)
  })
})

it('a header in two spellings is refused, because people see both and only one is sent', async () => {
  const headers = { 'Content-Type': JSON_TYPE, 'content-type': FORM }
  const { answer } = await asked({ headers, body: '{"amount":5,"x":"&amount=9999"}' }, 'body.amount')
  expect([answer.status, answer.body.error?.code]).toEqual([422, 'validation_error'])
  expect(answer.body.error.details.fields).toHaveProperty(['arguments.headers.content-type'])
})

it.each([
  ['the address', { query: '?amount=5&next=/pay%3Famount%3D9999' }, 'query.amount'],
  ['the body', { query: '?next=/pay%3Fsum%3D9999', ...form('amount=5') }, 'body.amount'],
] as const)(
  'a call isn’t led by a redirect to another amount than the one read from %s',
  async (_place, call, field) => {
    const location = '/pay?amount=9999'
    bank.answer(({ path }) =>
      path.includes('next=') ? { kind: 'redirect', status: 307, location } : { kind: 'answer' },
    )
    const { read, approve } = await asked(call, field)
    expect(await read()).toMatchObject({ required: 1, reading: { value: 5 } })
    await succeeded(approve())
    await platform.drain()
    expect(bank.requests.map(({ path }) => path)).toEqual([`/pay${call.query}`])
  },
)

describe('a call whose value is plain needs one person below the amount, who sees what the rule read', () => {
  it.each<[kind: string, call: Parameters<typeof asked>[0], field: string, value: number]>([
    [
      'JSON',
      json('{"pay":{"amount":999.99},"note":"amount"}', 'Application/JSON; charset="UTF-8"'),
      'body.pay.amount',
      999.99,
    ],
    ['JSON with the number as text', json('{"amount":"-12.50"}'), 'body.amount', -12.5],
    ['a form', form('note=a%20b&metadata[amount]=7&amount=5'), 'body.amount', 5],
    ['the address', { query: '?amount=5&to=x' }, 'query.amount', 5],
    ['a header', { headers: { 'X-Amount': '5' } }, 'headers.x-amount', 5],
  ])('%s', async (_kind, call, field, value) => {
    const { read, approve } = await asked(call, field)
    expect(await read()).toMatchObject({ required: 1, reading: { field, at_least: 1_000, value, unread: null } })
    expect((await approve()).body.status).toBe('running')
    await platform.drain()
    expect(bank.requests).toHaveLength(1)
  })

  it('and two from it', async () => {
    const { read } = await asked(json('{"amount":1000}'), 'body.amount')
    expect(await read()).toMatchObject({ required: 2, reading: { value: 1_000, unread: null } })
  })
})
