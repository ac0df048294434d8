import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { PersonMailEntity } from '#shared/messaging/inbox/mail/entity.ts'
import { giveEmail, requestEmailCode } from '#testkit/email.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()
let n = 0
const person = async () => {
  const { user, token } = await member(platform.deps, (await workspace(platform.deps)).id, 'owner')
  return { id: user.id, token, email: `ann${++n}@example.com`, ...consoleOf(platform, token) }
}

beforeEach(() => {
  platform.clock.advance(HOUR)
})

describe('an e-mail address', () => {
  it('is used after its code was confirmed, and the one before until then', async () => {
    const ann = await person()
    const addresses = async () => {
      const { address, pending_address } = (await ann.read('/notifications/preferences')).email
      return { address, pending_address }
    }
    const code = await requestEmailCode(platform, ann.token, ann.email)
    expect(await addresses()).toEqual({ address: null, pending_address: ann.email })
    await ann.call('POST', '/email/confirm', { code })
    expect(await addresses()).toEqual({ address: ann.email, pending_address: null })
    await requestEmailCode(platform, ann.token, 'new@example.com')
    expect(await addresses()).toEqual({ address: ann.email, pending_address: 'new@example.com' })
    expect((await ann.call('DELETE', '/email')).status).toBe(204)
    expect((await ann.call('DELETE', '/email')).status).toBe(204)
    expect(await addresses()).toEqual({ address: null, pending_address: null })
  })

  it('isn’t confirmed by a wrong, old or used code, by another person’s, or after five wrong ones', async () => {
    const [ann, bob] = [await person(), await person()]
    const confirm = async (who: typeof ann, code: string) => (await who.call('POST', '/email/confirm', { code })).status
    const code = await requestEmailCode(platform, ann.token, ann.email)
    const wrong = code === '000000' ? '000001' : '000000'
    await requestEmailCode(platform, bob.token, bob.email)
    expect(await confirm(bob, code)).toBe(403)
    for (let i = 0; i < 5; i++) expect(await confirm(ann, wrong)).toBe(403)
    expect(await confirm(ann, code)).toBe(403)
    const next = await requestEmailCode(platform, ann.token, ann.email)
    platform.clock.advance(HOUR)
    expect(await confirm(ann, next)).toBe(403)
  })

  it('can be set within ten minutes of the sign-in only, so that a stolen session doesn’t keep reading', async () => {
    const ann = await person()
    platform.clock.advance(11 * MINUTE)
    const { status, body } = await ann.call('PUT', '/email', { email: ann.email })
    expect([status, body.error.code]).toEqual([403, 'confirmation_required'])
  })

  it('gets at most five codes at once, whoever asks for them', async () => {
    const people = await Promise.all(Array.from({ length: 6 }, person))
    const statuses: number[] = []
    for (const { call } of people) statuses.push((await call('PUT', '/email', { email: 'victim@example.com' })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })

  it('is deleted with the account', async () => {
    const ann = await person()
    await giveEmail(platform, ann.token, ann.email)
    expect((await ann.call('DELETE', '/me')).status).toBe(204)
    expect(await platform.deps.table.get(PersonMailEntity, { user_id: ann.id })).toBeUndefined()
  })
})

describe('preferences for e-mail', () => {
  it('say how each kind comes, and stay as they are when a page that doesn’t know them sets others', async () => {
    const ann = await person()
    await giveEmail(platform, ann.token, ann.email)
    const { email } = await ann.read('/notifications/preferences')
    expect(email.at_once).toEqual(expect.arrayContaining(['run.awaiting_approval', 'agent.question', 'task.assigned']))
    expect(email.digest).toEqual(expect.arrayContaining(['agent.notice', 'task.report']))
    const chosen = { off: false, digest_off: true, at_once: ['agent.notice'], digest: ['run.awaiting_approval'] }
    const messaging_app = { muted: false, off: [], muted_until: null }
    await ann.call('PUT', '/notifications/preferences', { messaging_app, email: chosen })
    await ann.call('PUT', '/notifications/preferences', { messaging_app: { muted: true } })
    const after = await ann.read('/notifications/preferences')
    expect(after.email).toMatchObject(chosen)
    expect(after.messaging_app.muted).toBe(true)
    const both = { ...chosen, digest: ['agent.notice'] }
    expect((await ann.call('PUT', '/notifications/preferences', { messaging_app, email: both })).status).toBe(422)
  })
})
