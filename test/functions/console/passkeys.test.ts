import { beforeEach, describe, expect, it } from 'vitest'
import { PasskeyEntity } from '#shared/foundation/passkeys/entity.ts'
import { UserEntity } from '#shared/identity/people/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { createAuthenticator, type TestAuthenticator } from '#testkit/passkeys.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
beforeEach(() => platform.clock.advance(3_600_000))

let people = 0
const call = (method: string, path: string, token?: string, body?: unknown): Promise<Answer> =>
  platform.call(method, path, { token, body })
const person = async () => (await call('POST', '/console/session', undefined, { user: `Ann ${++people}` })).body
const add = async (token: string, authenticator: TestAuthenticator, name = 'Laptop') => {
  const { body: asked } = await call('POST', '/console/passkeys/options', token)
  return call('POST', '/console/passkeys', token, { name, ...authenticator.create(asked) })
}
const signIn = async (authenticator: TestAuthenticator) => {
  const { body: asked } = await call('POST', '/console/passkeys/sign-in/options')
  return call('POST', '/console/passkeys/sign-in', undefined, authenticator.answer(asked))
}

describe('a passkey of a person', () => {
  it('signs in to the same account and workspace, and is listed with its last use', async () => {
    const ann = await person()
    const authenticator = createAuthenticator()
    const added = await add(ann.token, authenticator)
    expect([added.status, added.body.name]).toEqual([201, 'Laptop'])
    platform.clock.advance(60_000)
    const { status, headers, body } = await signIn(authenticator)
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect([body.user.id, body.workspace.id, body.expires_in]).toEqual([ann.user.id, ann.workspace.id, 43_200])
    const { items } = (await call('GET', '/console/passkeys', body.token)).body
    expect(items).toMatchObject([{ id: added.body.id, name: 'Laptop', last_used_at: expect.any(String) }])
  })

  it('can be removed, and then signs in to nothing', async () => {
    const ann = await person()
    const authenticator = createAuthenticator()
    const { id } = (await add(ann.token, authenticator)).body
    expect((await call('DELETE', `/console/passkeys/${id}`, ann.token)).status).toBe(204)
    const { error } = (await signIn(authenticator)).body
    expect([error.code, error.details]).toEqual(['unauthorized', { passkey: 'unknown' }])
    expect((await call('DELETE', `/console/passkeys/${id}`, ann.token)).status).toBe(404)
  })

  it('of another kind of account, on the same site, is refused without advice to delete it', async () => {
    const authenticator = createAuthenticator()
    const owners = [`${newId('developer', 0)}/${newId('developerMember', 0)}`, newId('admin', 0)]
    for (const owner of owners) {
      const user = { id: Buffer.from(owner).toString('base64url') }
      authenticator.create({ challenge_id: '', options: { challenge: '', user } })
      const { error } = (await signIn(authenticator)).body
      expect([error.code, error.details]).toEqual(['unauthorized', { passkey: 'elsewhere' }])
      expect(error.fix).not.toContain('delete')
    }
  })

  it('is one of at most 10: the next one is refused before a device makes it', async () => {
    const ann = await person()
    const asked = (await call('POST', '/console/passkeys/options', ann.token)).body
    for (let n = 0; n < 10; n++) expect((await add(ann.token, createAuthenticator(), `Key ${n}`)).status).toBe(201)
    const refused = await call('POST', '/console/passkeys/options', ann.token)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    const late = await call('POST', '/console/passkeys', ann.token, {
      name: 'Late',
      ...createAuthenticator().create(asked),
    })
    expect(late.body.error.code).toBe('conflict')
  })

  it('is begun only while the sign-in stays young enough to finish it, and both times are 5 minutes', async () => {
    const ann = await person()
    const { body } = await call('POST', '/console/passkeys/options', ann.token)
    expect([body.expires_in, body.options.timeout]).toEqual([300, 300_000])
    const signIn = (await call('POST', '/console/passkeys/sign-in/options')).body
    expect([signIn.expires_in, signIn.options.timeout]).toEqual([300, 300_000])
    platform.clock.advance(4 * 60_000 + 59_000)
    const last = (await call('POST', '/console/passkeys/options', ann.token)).body
    platform.clock.advance(4 * 60_000 + 59_000)
    const made = await call('POST', '/console/passkeys', ann.token, {
      name: 'A',
      ...createAuthenticator().create(last),
    })
    expect(made.status).toBe(201)
    const late = await call('POST', '/console/passkeys/options', ann.token)
    expect(late.body.error.code).toBe('confirmation_required')
  })

  it.each([
    ['that checks no user', { verifiesUser: false }, 'PIN, fingerprint or face'],
    ['of an algorithm that wasn’t asked for', { algorithm: -35 }, 'algorithm that wasn’t asked for'],
    ['made in a foreign frame', { crossOrigin: true }, 'in a frame of another site'],
    ['of another site', { origin: 'https://elsewhere.test' }, 'doesn’t answer this challenge for this site'],
  ])('%s is refused with its own reason', async (_what, options, message) => {
    const ann = await person()
    const { status, body } = await add(ann.token, createAuthenticator(options))
    expect([status, body.error.code]).toEqual([422, 'validation_error'])
    expect(body.error.message).toContain(message)
  })

  it('that the account has already is said to be known', async () => {
    const ann = await person()
    const authenticator = createAuthenticator()
    await add(ann.token, authenticator)
    const { body } = await add(ann.token, authenticator)
    expect([body.error.message, body.error.details.passkey]).toEqual(['The account already has this passkey.', 'known'])
  })

  it('that comes from a copy, a foreign frame, or checks no user doesn’t sign in, and the copy is audited', async () => {
    const ann = await person()
    const authenticator = createAuthenticator()
    await add(ann.token, authenticator)
    expect((await signIn(authenticator)).status).toBe(200)
    authenticator.rewind(0)
    const copied = await signIn(authenticator)
    expect([copied.status, copied.body.error.details]).toEqual([401, { passkey: 'counter' }])
    expect(copied.body.error.message).toContain('counter didn’t rise')
    const { items } = await platform.deps.table.query(AuditEntity, { scope: ann.workspace.id }, { limit: 20 })
    expect(items.filter(({ action }) => action === 'user.passkey_counter_refused')).toHaveLength(1)
  })

  it('doesn’t sign in a blocked person, and goes with a deleted account', async () => {
    const ann = await person()
    const authenticator = createAuthenticator()
    await add(ann.token, authenticator)
    const setStatus = (status: 'blocked' | 'active') =>
      platform.deps.table.transact([UserEntity.update({ id: ann.user.id }, { set: { status } })])
    await setStatus('blocked')
    expect((await signIn(authenticator)).body.error.code).toBe('forbidden')
    await setStatus('active')
    const again = await signIn(authenticator)
    expect((await call('DELETE', '/console/me', again.body.token)).status).toBe(204)
    expect((await signIn(authenticator)).body.error.code).toBe('unauthorized')
    const left = await platform.deps.table.query(PasskeyEntity, { owner_id: ann.user.id }, { limit: 10 })
    expect(left.items).toEqual([])
  })

  it('lets an owner who lost their messenger account in, to hand the workspace to their new one', async () => {
    const ann = await person()
    const workspace = ann.workspace.id
    const authenticator = createAuthenticator()
    await add(ann.token, authenticator)
    platform.clock.advance(30 * 86_400_000)
    // Her messenger account is gone: only the passkey is left.
    const { token } = (await signIn(authenticator)).body
    const invited = await call('POST', '/console/invitations', token, { role: 'owner' })
    expect(invited.status, invited.text).toBe(201)
    const account = telegram.person({ first_name: 'Ann' })
    telegram.say(account, `/start ${invited.body.start_parameter}`)
    await telegram.settled()
    telegram.press(account, telegram.chat(account).at(-1)?.message_id ?? 0, 0)
    await telegram.settled()
    const fresh = await call('POST', '/console/bot/webapp-auth', undefined, { init_data: telegram.initData(account) })
    const moved = await call('POST', '/console/session/workspace', fresh.body.token, { workspace_id: workspace })
    expect(moved.body.workspace).toMatchObject({ id: workspace, role: 'owner' })
    expect((await call('DELETE', `/console/members/${ann.user.id}`, moved.body.token)).status).toBe(204)
    expect((await call('GET', '/console/me', token)).status).toBe(401)
  })
})
