import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { installed } from '#testkit/fixtures.ts'
import { actors, formOf, pkce, redemptionOf } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => platform.clock.advance(60_000))

const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

describe('the challenge (RFC 7636 §4.3)', () => {
  const good = pkce().challenge
  const wrong: [what: string, changes: Record<string, string | undefined>][] = [
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['a method without a challenge', { code_challenge: undefined }],
    ['a blank challenge', { code_challenge: '' }],
    ['a challenge without a method, which would be plain', { code_challenge_method: undefined }],
    ['a blank method', { code_challenge_method: '' }],
    ['plain', { code_challenge_method: 'plain' }],
    ['s256 in lower case', { code_challenge_method: 's256' }],
    ['another method', { code_challenge_method: 'S512' }],
    ['padding', { code_challenge: `${good}=` }],
    ['42 characters', { code_challenge: good.slice(1) }],
    ['44 characters', { code_challenge: `${good}A` }],
    ['base64 with + and /', { code_challenge: `+/${good.slice(2)}` }],
    ['the digest in hex', { code_challenge: createHash('sha256').update('x').digest('hex') }],
    ['a trailing line break', { code_challenge: `${good}\n` }],
  ]
  it.each(wrong)('%s is refused with invalid_request, as JSON', async (_what, changes) => {
    const { app } = await installed(platform.deps)
    const answer = await act.authorize(app, changes)
    expect([answer.status, answer.body?.error.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.error.message).toMatch(/code_challenge/)
    expect(answer.headers.location).toBeUndefined()
  })
})

describe('the verifier (RFC 7636 §4.5, §4.6)', () => {
  it('is accepted with 43 to 128 unreserved characters that match the challenge', async () => {
    for (const verifier of ['a'.repeat(43), 'Az09-._~'.repeat(16)]) {
      const client = await installed(platform.deps)
      const consent = await act.consented(client.app, { code_challenge: s256(verifier) })
      expect((await act.redeem(client, { code: consent.code, verifier })).status, verifier).toBe(200)
    }
  })

  it('is invalid_request when it is missing, and otherwise invalid_grant, without consuming the code', async () => {
    const client = await installed(platform.deps)
    const consent = await act.consented(client.app)
    const other = await act.consented(client.app)
    const { verifier } = consent
    const missing = [undefined, '', 42, null, ['x'], { verifier }]
    for (const code_verifier of missing) {
      const { status, body } = await act.redeem(client, consent, { code_verifier })
      expect([status, body.error.code], JSON.stringify(code_verifier)).toEqual([400, 'invalid_request'])
    }
    const wrong: [what: string, verifier: string][] = [
      ['of another request', other.verifier],
      ['the challenge itself', s256(verifier)],
      ['with padding', `${verifier}=`],
      ['one more character', `${verifier}A`],
      ['one character fewer', verifier.slice(1)],
      [
        'with one letter in the other case',
        verifier.replace(/[a-zA-Z]/, (c) => (c < 'a' ? c.toLowerCase() : c.toUpperCase())),
      ],
      ['a leading space', ` ${verifier}`],
      ['a trailing line break', `${verifier}\n`],
      ['129 characters', 'a'.repeat(129)],
      ['100,000 characters', 'a'.repeat(100_000)],
      ['other characters', 'é'.repeat(43)],
    ]
    for (const [what, code_verifier] of wrong) {
      const { status, body } = await act.redeem(client, consent, { code_verifier })
      expect([status, body.error.code], what).toEqual([400, 'invalid_grant'])
      expect(body.error.message, what).toContain('code_verifier')
    }
    expect((await act.redeem(client, consent)).status).toBe(200)
    expect((await act.redeem(client, other)).status, 'nor was the other one touched').toBe(200)
  })

  it.each(['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(42)}é`, `${'a'.repeat(43)}+`, `${'a'.repeat(43)}\n`])(
    'is refused when its syntax is invalid, even if it matches the challenge',
    async (verifier) => {
      const client = await installed(platform.deps)
      const consent = await act.consented(client.app, { code_challenge: s256(verifier) })
      const { status, body } = await act.redeem(client, { code: consent.code, verifier })
      expect([status, body.error.code]).toEqual([400, 'invalid_grant'])
      expect(body.error.message).toContain('43 to 128')
    },
  )

  it('is invalid_request when repeated, even if one of them is right', async () => {
    const client = await installed(platform.deps)
    const consent = await act.consented(client.app)
    const form = new URLSearchParams(redemptionOf(client, consent))
    form.append('code_verifier', consent.verifier)
    const { status, body } = await platform.call('POST', '/oauth/token', formOf(form))
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
    expect((await act.redeem(client, consent)).status).toBe(200)
  })
})
