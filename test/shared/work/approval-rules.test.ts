import { describe, expect, it } from 'vitest'
import { ruleFor } from '#shared/work/approval-rules/match.ts'
import { ApprovalRule } from '#shared/work/approval-rules/schemas.ts'

const rule = (fields: object) => ApprovalRule().parse({ name: 'Own', approvers: { role: 'owner' }, ...fields })
const call = (origin: string | undefined) => ({ app_id: 'app_1', tool: 'http_fetch', origin })
const matches = (host: string, origin: string | undefined): boolean =>
  ruleFor([rule({ hosts: [host] })], call(origin)).name === 'Own'

describe('the host of a rule', () => {
  it.each([
    ['bank.example', 'https://bank.example', true],
    ['bank.example', 'https://bank.example.', true],
    ['bank.example', 'https://BANK.example:8443', true],
    ['Bank.Example', 'https://bank.example', true],
    ['bank.example', 'https://api.bank.example', false],
    ['bank.example', 'https://notbank.example', false],
    ['bank.example', 'https://bank.example.evil.example', false],
    ['*.bank.example', 'https://api.bank.example', true],
    ['*.bank.example', 'https://a.b.bank.example.', true],
    ['*.bank.example', 'https://bank.example', false],
    ['*.bank.example', 'https://evilbank.example', false],
    ['bank.example', undefined, false],
  ])('%s and %s: %s', (host, origin, is) => expect(matches(host, origin)).toBe(is))

  it.each(['https://bank.example', 'bank.example:443', 'bank.example/', '*', 'b*nk.example', '', 'bänk.example'])(
    'can’t be %s',
    (host) => expect(() => rule({ hosts: [host] })).toThrow(),
  )
})

it('a rule names somebody who approves', () => {
  expect(() => rule({ approvers: { role: null, user_ids: [] } })).toThrow('must name a role or a person')
})
