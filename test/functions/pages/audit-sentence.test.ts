import { describe, expect, it } from 'vitest'
import { auditCsv, deedOf, screenOf } from '#web/console/client/ui/audit-sentence.ts'

describe('the sentence of an audit entry', () => {
  it.each([
    ['member.role_changed', 'changed the role of the member'],
    ['invitation.created', 'created the invitation'],
    ['installation.access_withdrawn', 'withdrew the access of the agent'],
    ['messenger.account_lost', 'lost the account of the messenger'],
    ['grant.revoked', 'revoked the app’s access'],
    ['something.else', 'something else'],
  ])('says what %s did: %s', (action, words) => {
    expect(deedOf(action)).toBe(words)
  })

  it('links to the screen of what it is about', () => {
    expect(screenOf({ type: 'run', id: 'run_1', name: null })).toBe('/runs/run_1')
    expect(screenOf({ type: 'user', id: 'usr_1', name: 'Ada' })).toBe('/members')
    expect(screenOf({ type: 'webhook', id: 'wh_1', name: null })).toBeUndefined()
  })
})

it('names in an exported audit can’t become formulas or further cells', () => {
  const csv = auditCsv([
    {
      id: 'aud_1',
      action: 'member.joined',
      actor: { type: 'user', id: 'usr_1', name: '=HYPERLINK("https://x.example")' },
      subject: { type: 'user', id: 'usr_1', name: 'Eve", "x\r\n@y' },
      before: null,
      after: null,
      details: {},
      request_id: null,
      created_at: '2026-11-23T00:00:00.000Z',
    },
  ])
  const [, row = ''] = csv.split('\r\n')
  expect(row).toContain(`"'=HYPERLINK(""https://x.example"")"`)
  expect(csv).toContain('"Eve"", ""x')
})
