import { beforeEach, describe, expect, it } from 'vitest'
import { loadInvitation } from '#shared/identity/people/join.ts'
import {
  confirmEmail,
  invited,
  newApp,
  newDeveloper,
  newTeammate,
  publish,
  signedInByEmail,
  type TestDeveloper,
} from '#testkit/developers.ts'
import { actors, refreshOf } from '#testkit/oauth.ts'
import { createAuthenticator } from '#testkit/passkeys.ts'
import { type Answer, succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(24 * 3_600_000))

type Call = TestDeveloper['call']

const withKey =
  (key: string): Call =>
  (method, path, body, headers) =>
    platform.call(method, path, { body, headers: { 'x-developer-key': key, ...headers } })
const sessionOf = (api_key: string) => platform.call('POST', '/api/v1/dev/session', { body: { api_key } })
const openSession = async (api_key: string): Promise<string> => (await succeeded(sessionOf(api_key))).session_key
const me = (key: string) => withKey(key)('GET', '/api/v1/dev/me')
const codeFor = (address: string): string =>
  /dvt_[\w-]+/.exec(platform.mails.findLast(({ to }) => to === address)?.text ?? '')?.[0] ?? ''
const emailOf = async (developer: Pick<TestDeveloper, 'call'>): Promise<string> =>
  (await developer.call('GET', '/api/v1/dev/me')).body.email

const recover = async (email: string) => {
  await platform.call('POST', '/api/v1/dev/recover', { body: { email } })
  return succeeded(platform.call('POST', '/api/v1/dev/recover/confirm', { body: { token: codeFor(email) } }))
}

/** Reports whether an invite link would let a person of the messaging app in. */
const joinsWith = async (link: string): Promise<boolean> =>
  (await loadInvitation(platform.deps, link.replace('join_', ''))) !== undefined

/** Everything that a credential of a developer account gives. */
const derivedFrom = async (call: Call, appId: string) => {
  const owner = await succeeded(call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
  const customer = await succeeded(call('POST', '/api/v1/dev/sandbox/session', { as: 'customer' }))
  const pair = await succeeded(call('POST', `/api/v1/dev/apps/${appId}/sandbox-token`))
  const tasks = { title: 'Written by somebody who shouldn’t' }
  return {
    pair,
    owner: owner.token as string,
    uses: {
      'the sandbox’s owner': () => platform.call('POST', '/console/tasks', { token: owner.token, body: tasks }),
      'the sandbox’s customer': () => platform.call('GET', '/console/me', { token: customer.token }),
      'a sandbox token': () => platform.call('GET', '/api/v1/me', { token: pair.access_token }),
    } as Record<string, () => Promise<Answer>>,
  }
}

const expectWorking = async (uses: Record<string, () => Promise<Answer>>) => {
  for (const [what, use] of Object.entries(uses)) expect((await use()).status, what).toBeLessThan(300)
}
const expectEnded = async (uses: Record<string, () => Promise<Answer>>) => {
  for (const [what, use] of Object.entries(uses)) expectRefusal(await use(), what, 'unauthorized')
}

const scene = async () => {
  const developer = await newDeveloper(platform)
  const app = await newApp(developer, { requested_scopes: ['workspace:read', 'runs:write'] })
  await succeeded(publish(developer, app))
  const refresh = (refresh_token: string) =>
    actors(platform).token(refreshOf({ app, clientSecret: app.client_secret }, refresh_token))
  return { developer, app, refresh }
}

describe('a session of the portal', () => {
  it('opens no other session, so that it ends after 12 hours, with the rights of the moment', async () => {
    const { developer } = await scene()
    const bo = await newTeammate(platform, developer, 'owner')
    for (const session of [bo.key, await openSession(developer.key)]) {
      expectRefusal(await sessionOf(session), 'a session for a session', 'unauthorized')
    }
    expect((await sessionOf(developer.key)).status).toBe(201)
  })

  it('ends with the key that opened it, and gives nothing afterwards: rotated, deleted, expired', async () => {
    const { developer, app } = await scene()
    const named = (name: string) =>
      succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name, expires_in_days: 1 }))
    const email = await emailOf(developer)
    const ways: [
      string,
      { api_key: string; id?: string },
      (key: { api_key: string; id?: string }) => Promise<unknown>,
    ][] = [
      ['deleted', await named('one'), ({ id }) => developer.call('DELETE', `/api/v1/dev/me/keys/${id}`)],
      ['rotated', await named('two'), ({ api_key }) => withKey(api_key)('POST', '/api/v1/dev/me/rotate-key')],
      [
        'the main key',
        { api_key: developer.key },
        ({ api_key }) => withKey(api_key)('POST', '/api/v1/dev/me/rotate-key'),
      ],
    ]
    for (const [what, key, end] of ways) {
      const session = await openSession(key.api_key)
      const [fromKey, fromSession] = [
        await derivedFrom(withKey(key.api_key), app.id),
        await derivedFrom(withKey(session), app.id),
      ]
      const all = { session: () => me(session) }
      await expectWorking({ ...all, ...fromKey.uses, ...fromSession.uses })
      await end(key)
      expectRefusal(await me(session), what, 'unauthorized')
      await expectEnded(fromKey.uses)
      await expectEnded(fromSession.uses)
    }
    const late = await succeeded(
      withKey((await recover(email)).api_key)('POST', '/api/v1/dev/me/keys', {
        name: 'late',
        expires_in_days: 1,
      }),
    )
    platform.clock.advance(23 * 3_600_000)
    const session = await openSession(late.api_key)
    const { uses } = await derivedFrom(withKey(session), app.id)
    await expectWorking(uses)
    platform.clock.advance(2 * 3_600_000)
    expectRefusal(await me(session), 'an expired key’s session', 'unauthorized')
    await expectEnded(uses)
  })

  it('follows the role of the key that opened it', async () => {
    const { developer } = await scene()
    const key = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci', role: 'owner' }))
    const session = withKey(await openSession(key.api_key))
    await developer.call('PATCH', `/api/v1/dev/me/keys/${key.id}`, { role: 'viewer' })
    expect((await session('GET', '/api/v1/dev/me')).body.role).toBe('viewer')
    expectRefusal(await session('POST', '/api/v1/dev/me/keys', { name: 'mine' }), 'a key', 'forbidden')
  })

  it('gives a sandbox token without a refresh token, also if a key opened it', async () => {
    const { developer, app } = await scene()
    const session = await openSession(developer.key)
    const token = await succeeded(withKey(session)('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`))
    expect(token.refresh_token).toBeNull()
    const ofKey = await succeeded(developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`))
    expect(ofKey.refresh_token).toMatch(/^rft_/)
  })

  it('takes what it opened with it when it is signed out', async () => {
    const { developer, app } = await scene()
    const session = await openSession(developer.key)
    const { uses } = await derivedFrom(withKey(session), app.id)
    const other = await derivedFrom(withKey(await openSession(developer.key)), app.id)
    await withKey(session)('DELETE', '/api/v1/dev/session')
    await expectEnded(uses)
    await expectWorking(other.uses)
  })
})

describe('a teammate', () => {
  it('who becomes a viewer writes nothing through the sandbox that was open, nor with its tokens', async () => {
    const { developer, app } = await scene()
    const bo = await newTeammate(platform, developer, 'developer')
    const { uses, owner, pair } = await derivedFrom(bo.call, app.id)
    await expectWorking(uses)
    await developer.call('PATCH', `/api/v1/dev/members/${bo.id}`, { role: 'viewer' })
    expectRefusal(await platform.call('GET', '/console/me', { token: owner }), 'the console', 'unauthorized')
    const run = { token: pair.access_token, body: {} }
    expectRefusal(await platform.call('POST', '/api/v1/runs', run), 'a run', 'insufficient_scope')
    expect((await platform.call('GET', '/api/v1/me', { token: pair.access_token })).status).toBe(200)
  })

  it('who is removed has no sandbox token left, and nobody joins by their invitations', async () => {
    const { developer, app } = await scene()
    const bo = await newTeammate(platform, developer, 'owner')
    const { uses } = await derivedFrom(bo.call, app.id)
    const { code } = await invited(platform, bo, 'owner')
    const { invite_link } = await succeeded(bo.call('POST', '/api/v1/dev/sandbox/invite'))
    expect(await joinsWith(invite_link)).toBe(true)
    await developer.call('DELETE', `/api/v1/dev/members/${bo.id}`)
    await expectEnded(uses)
    expect(await joinsWith(invite_link)).toBe(false)
    const join = { body: { token: code, name: 'Mallory' } }
    expectRefusal(await platform.call('POST', '/api/v1/dev/members/join', join), 'joining', 'forbidden')
  })

  it('who is no owner anymore lets nobody in by an invitation from before', async () => {
    const { developer } = await scene()
    const bo = await newTeammate(platform, developer, 'owner')
    const { code } = await invited(platform, bo, 'owner')
    await developer.call('PATCH', `/api/v1/dev/members/${bo.id}`, { role: 'developer' })
    const join = { body: { token: code, name: 'Mallory' } }
    expectRefusal(await platform.call('POST', '/api/v1/dev/members/join', join), 'joining', 'forbidden')
  })
})

describe('a blocked developer', () => {
  it('writes nothing through a sandbox that was open, until the account is unblocked', async () => {
    const { developer, app, refresh } = await scene()
    const { uses, pair } = await derivedFrom(developer.call, app.id)
    const admin = { headers: { 'x-admin-key': 'local-admin-key' } }
    await succeeded(
      platform.call('POST', `/admin/developers/${developer.id}/block`, { ...admin, body: { reason: 'Fraud' } }),
    )
    await expectEnded(uses)
    expectRefusal(await refresh(pair.refresh_token), 'a refresh token', 'invalid_grant')
    await succeeded(platform.call('POST', `/admin/developers/${developer.id}/unblock`, admin))
    expect((await me(developer.key)).status).toBe(200)
    await expectWorking(uses)
  })
})

describe('an account that its owner takes over', () => {
  it.each([
    ['by recovery', async (developer: TestDeveloper) => void (await recover(await emailOf(developer)))],
    [
      'by a first sign-in',
      async (developer: TestDeveloper) => void (await signedInByEmail(platform, await emailOf(developer))),
    ],
  ])('%s leaves a squatter nothing that its key gave', async (_way, takeOver) => {
    const { developer: squatter, app, refresh } = await scene()
    const { invite_link } = await succeeded(squatter.call('POST', '/api/v1/dev/sandbox/invite'))
    const session = await openSession(squatter.key)
    const [ofKey, ofSession] = [await derivedFrom(squatter.call, app.id), await derivedFrom(withKey(session), app.id)]
    await takeOver(squatter)
    expectRefusal(await me(session), 'a session', 'unauthorized')
    await expectEnded(ofKey.uses)
    await expectEnded(ofSession.uses)
    expectRefusal(await refresh(ofKey.pair.refresh_token), 'a refresh token', 'invalid_grant')
    expect(await joinsWith(invite_link)).toBe(false)
  })

  it('has none of the passkeys and invitations that a hijacked session made', async () => {
    const { developer } = await scene()
    const email = await confirmEmail(platform, developer)
    const hijacked = await signedInByEmail(platform, email)
    const authenticator = createAuthenticator()
    const { body: adding } = await hijacked.call('POST', '/api/v1/dev/me/passkeys/options')
    await succeeded(hijacked.call('POST', '/api/v1/dev/me/passkeys', { name: 'Mine', ...authenticator.create(adding) }))
    const { code } = await invited(platform, hijacked, 'owner')
    await recover(email)
    expectRefusal(await me(hijacked.key), 'the session', 'unauthorized')
    const { body: asked } = await platform.call('POST', '/api/v1/dev/passkeys/sign-in/options')
    const signIn = { body: authenticator.answer(asked) }
    expectRefusal(await platform.call('POST', '/api/v1/dev/passkeys/sign-in', signIn), 'the passkey', 'unauthorized')
    const join = { body: { token: code, name: 'Mallory' } }
    expectRefusal(await platform.call('POST', '/api/v1/dev/members/join', join), 'the invitation', 'forbidden')
  })

  it('by proof of its address ends every other session', async () => {
    const { developer } = await scene()
    const [mine, other] = [await openSession(developer.key), await openSession(developer.key)]
    await confirmEmail(platform, { call: withKey(mine) })
    expectRefusal(await me(other), 'another session', 'unauthorized')
    expect((await me(mine)).status).toBe(200)
  })
})

describe('a stand-in of a sandbox', () => {
  it.each(['owner', 'customer'])('who is its %s has neither passkeys nor an e-mail address', async (as) => {
    const { developer } = await scene()
    const { token } = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as }))
    const call = (method: string, path: string, body?: object) => platform.call(method, path, { token, body })
    expectRefusal(await call('POST', '/console/passkeys/options'), 'options', 'forbidden')
    expectRefusal(await call('PUT', '/console/email', { email: 'mallory@example.com' }), 'an address', 'forbidden')
    expect((await call('GET', '/console/me')).status).toBe(200)
  })

  it('is somebody else after a recovery, who knows nothing of the first one’s connections', async () => {
    const { developer } = await scene()
    const before = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    const { api_key } = await recover(await emailOf(developer))
    const after = await succeeded(withKey(api_key)('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    expect(after.user.id).not.toBe(before.user.id)
    expect(after.workspace.id).toBe(before.workspace.id)
  })

  it('lets nobody in by an invitation once it has ended', async () => {
    const { developer } = await scene()
    const { token } = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    const { start_parameter } = await succeeded(
      platform.call('POST', '/console/invitations', { token, body: { role: 'owner' } }),
    )
    expect(await joinsWith(start_parameter)).toBe(true)
    await developer.call('POST', '/api/v1/dev/me/rotate-key')
    expect(await joinsWith(start_parameter)).toBe(false)
  })
})

describe('sessions of an account', () => {
  const idsOf = async (call: Call): Promise<string[]> =>
    (await succeeded(call('GET', '/api/v1/dev/sessions'))).items.map(({ id }: { id: string }) => id)

  it('are listed with who, by what, since when and the last use: all of them for owners, their own for others', async () => {
    const { developer } = await scene()
    const bo = await newTeammate(platform, developer, 'viewer')
    const named = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci', role: 'viewer' }))
    const session = await openSession(named.api_key)
    platform.clock.advance(2 * 3_600_000)
    await me(session)
    const { items } = await succeeded(developer.call('GET', '/api/v1/dev/sessions'))
    const [byKey, byInvitation] = items
    expect(items).toHaveLength(2)
    expect(byKey).toMatchObject({ via: 'key', key: { id: named.id, name: 'ci' }, member: null, role: 'viewer' })
    expect(Date.parse(byKey.last_used_at) - Date.parse(byKey.created_at)).toBe(2 * 3_600_000)
    expect(byInvitation).toMatchObject({ via: 'invitation', key: null, member: { id: bo.id }, role: 'viewer' })
    expect(JSON.stringify(items)).not.toContain('dvs_')
    expect(await idsOf(bo.call)).toEqual([byInvitation.id])
    expect(await idsOf(withKey(session))).toEqual([byKey.id])
    expect(await idsOf(withKey(named.api_key))).toEqual([byKey.id])
    await developer.call('DELETE', `/api/v1/dev/me/keys/${named.id}`)
    expect(await idsOf(developer.call)).toEqual([byInvitation.id])
  })

  it('are ended one by one or all together by owners, with what they opened, and by nobody else', async () => {
    const { developer, app } = await scene()
    const bo = await newTeammate(platform, developer, 'developer')
    const stolen = await signedInByEmail(platform, bo.email)
    const { uses } = await derivedFrom(stolen.call, app.id)
    const stranger = await newDeveloper(platform)
    const [id] = await idsOf(bo.call)
    const viewer = await newTeammate(platform, developer, 'viewer')
    for (const { call } of [stranger, viewer]) {
      expectRefusal(await call('DELETE', `/api/v1/dev/sessions/${id}`), 'another one’s', 'not_found')
      expect((await call('DELETE', '/api/v1/dev/sessions')).status).toBe(204)
    }
    await expectWorking(uses)
    expect((await developer.call('DELETE', `/api/v1/dev/sessions/${id}`)).status).toBe(204)
    expectRefusal(await me(stolen.key), 'the ended one', 'unauthorized')
    await expectEnded(uses)
    expect((await me(bo.key)).status).toBe(200)
    const mine = await openSession(developer.key)
    expect((await withKey(mine)('DELETE', '/api/v1/dev/sessions')).status).toBe(204)
    for (const key of [bo.key, viewer.key]) expectRefusal(await me(key), 'another session', 'unauthorized')
    for (const key of [mine, developer.key]) expect((await me(key)).status).toBe(200)
  })
})
