import { beforeEach, describe, expect, it } from 'vitest'
import { newDeveloper, newTeammate, signedInByEmail, type TestTeammate } from '#testkit/developers.ts'
import { createAuthenticator, type TestAuthenticator } from '#testkit/passkeys.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(3_600_000))

const add = async ({ call }: Pick<TestTeammate, 'call'>, authenticator: TestAuthenticator, name = 'Laptop') => {
  const { body: asked } = await call('POST', '/api/v1/dev/me/passkeys/options')
  return call('POST', '/api/v1/dev/me/passkeys', { name, ...authenticator.create(asked) })
}
const signIn = async (authenticator: TestAuthenticator) => {
  const { body: asked } = await platform.call('POST', '/api/v1/dev/passkeys/sign-in/options')
  return platform.call('POST', '/api/v1/dev/passkeys/sign-in', { body: authenticator.answer(asked) })
}
const person = async () => {
  const owner = await newDeveloper(platform)
  const { email } = (await owner.call('GET', '/api/v1/dev/me')).body
  const ada = await signedInByEmail(platform, email)
  // A first sign-in by e-mail ended the key.
  return { owner: { ...owner, call: ada.call }, ada }
}

describe('a developer’s passkey', () => {
  it('signs in as the same teammate, and is listed with its last use', async () => {
    const { owner } = await person()
    const bo = await newTeammate(platform, owner, 'viewer')
    const authenticator = createAuthenticator()
    const added = await add(bo, authenticator)
    expect([added.status, added.body.name]).toEqual([201, 'Laptop'])
    const { status, headers, body } = await signIn(authenticator)
    expect([status, headers['cache-control'], body.expires_in]).toEqual([201, 'no-store', 43_200])
    const as = { headers: { 'x-developer-key': body.session_key } }
    const me = (await platform.call('GET', '/api/v1/dev/me', as)).body
    expect([me.id, me.role, me.member.id]).toEqual([owner.id, 'viewer', bo.id])
    const { items } = (await platform.call('GET', '/api/v1/dev/me/passkeys', as)).body
    expect(items).toMatchObject([{ id: added.body.id, name: 'Laptop', last_used_at: expect.any(String) }])
  })

  it('is removed by its own teammate only, and then signs in to nothing', async () => {
    const { owner, ada } = await person()
    const bo = await newTeammate(platform, owner, 'owner')
    const authenticator = createAuthenticator()
    const { id } = (await add(ada, authenticator)).body
    expect((await bo.call('DELETE', `/api/v1/dev/me/passkeys/${id}`)).status).toBe(404)
    expect((await ada.call('DELETE', `/api/v1/dev/me/passkeys/${id}`)).status).toBe(204)
    expect((await signIn(authenticator)).body.error.code).toBe('unauthorized')
  })

  it('is one of at most 10', async () => {
    const { ada } = await person()
    for (let n = 0; n < 10; n++) {
      platform.clock.advance(2_000)
      expect((await add(ada, createAuthenticator(), `Key ${n}`)).status).toBe(201)
    }
    const refused = await ada.call('POST', '/api/v1/dev/me/passkeys/options')
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
  })

  it('doesn’t replace the link by e-mail, which still signs in', async () => {
    const { ada } = await person()
    await add(ada, createAuthenticator())
    expect((await signedInByEmail(platform, ada.email)).id).toBe(ada.id)
  })
})
