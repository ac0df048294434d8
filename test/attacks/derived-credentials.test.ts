import { beforeEach, describe, expect, it } from 'vitest'
import { loadInvitation } from '#shared/identity/people/join.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
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
import { usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
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

let guests = 0
/** Lets somebody of the messaging app join by an invitation. @returns their sign-in and their place in the workspace */
const joining = async (link: string) => {
  const account = telegram.person({ first_name: `Guest ${++guests}` })
  telegram.say(account, `/start ${link}`)
  await telegram.settled()
  telegram.press(account, telegram.chat(account).at(-1)?.message_id ?? 0, 0)
  await telegram.settled()
  const signIn = async () => {
    platform.clock.advance(1_000)
    const init_data = telegram.initData(account)
    return succeeded(platform.call('POST', '/console/bot/webapp-auth', { body: { init_data } }))
  }
  const { token, user, workspace } = await signIn()
  const call: Call = (method, path, body) => platform.call(method, path, { token, body })
  return { account, call, user, workspace, signIn }
}

describe('a guest of a sandbox', () => {
  it('stays no longer than the key by which they were invited, nor does whom they invited', async () => {
    const { developer } = await scene()
    const named = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
    const invite = async (call: Call): Promise<string> =>
      (await succeeded(call('POST', '/api/v1/dev/sandbox/invite'))).invite_link
    const guest = await joining(await invite(withKey(named.api_key)))
    const { start_parameter } = await succeeded(guest.call('POST', '/console/invitations', { role: 'owner' }))
    const another = await joining(start_parameter)
    const standIn = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    const members = async (): Promise<string[]> =>
      (await succeeded(platform.call('GET', '/console/members', { token: standIn.token }))).items.map(
        ({ id }: { id: string }) => id,
      )
    for (const { call, workspace, user } of [guest, another]) {
      expect(workspace).toMatchObject({ id: standIn.workspace.id, role: 'owner' })
      expect((await call('POST', '/console/tasks', { title: 'Count the stock' })).status).toBe(201)
      expect(await members()).toContain(user.id)
    }
    const later = (await succeeded(another.call('POST', '/console/invitations', { role: 'owner' }))).start_parameter
    await developer.call('DELETE', `/api/v1/dev/me/keys/${named.id}`)
    for (const { call, user, signIn } of [guest, another]) {
      expectRefusal(await call('GET', '/console/me'), 'a session', 'unauthorized')
      expect(await members()).not.toContain(user.id)
      // They still have their account, with a workspace of their own.
      const { token, workspace } = await signIn()
      expect(workspace.id).not.toBe(standIn.workspace.id)
      const { workspaces } = await succeeded(platform.call('GET', '/console/me', { token }))
      expect(workspaces.map(({ id }: { id: string }) => id)).toEqual([workspace.id])
      const back = { token, body: { workspace_id: standIn.workspace.id } }
      expectRefusal(await platform.call('POST', '/console/session/workspace', back), 'switching back', 'not_found')
    }
    expect(await joinsWith(later)).toBe(false)
    // The account's current holder may invite them again.
    telegram.say(guest.account, `/start ${await invite(developer.call)}`)
    await telegram.settled()
    telegram.press(guest.account, telegram.chat(guest.account).at(-1)?.message_id ?? 0, 0)
    await telegram.settled()
    expect(await members()).toContain(guest.user.id)
    expectRefusal(await guest.call('GET', '/console/me'), 'the session from before', 'unauthorized')
  })

  it.each([true, false])(
    'brings no messages to the sandbox, and sends none from it, once that key has ended (account shared: %s)',
    async (shared) => {
      const { developer } = await scene()
      const named = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
      const { invite_link } = await succeeded(withKey(named.api_key)('POST', '/api/v1/dev/sandbox/invite'))
      const guest = await joining(invite_link)
      const account = await succeeded(guest.call('POST', '/console/messenger/accounts/user', { shared }))
      const { connection } = telegram.business.connect(guest.account)
      const settle = async () => {
        await telegram.settled()
        await platform.drain()
        platform.clock.advance(1_000)
      }
      await settle()
      const contact = telegram.person({ first_name: `Contact ${guests}` })
      const hears = async (text: string) => {
        telegram.business.say(connection.id, contact, text)
        await settle()
      }
      await hears('Before')
      const standIn = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
      const asOwner: Call = (method, path, body) => platform.call(method, path, { token: standIn.token, body })
      const viewer = shared ? asOwner : guest.call
      const [chat] = (await succeeded(viewer('GET', '/console/messenger/chats'))).items
      const sending = { text: 'In their name' }
      await succeeded(viewer('POST', `/console/messenger/chats/${chat.id}/messages`, sending))
      await settle()
      const received = () =>
        telegram.business.chat(connection.id, contact).filter(({ text }) => text === sending.text).length
      expect(received()).toBe(1)
      await developer.call('DELETE', `/api/v1/dev/me/keys/${named.id}`)
      if (shared) {
        await asOwner('POST', `/console/messenger/chats/${chat.id}/messages`, sending)
        await settle()
        expect(received()).toBe(1)
      }
      await hears('After')
      const texts = async (call: Call): Promise<string> =>
        (await call('GET', `/console/messenger/chats/${chat.id}/messages`)).text
      if (shared) {
        expect(await texts(asOwner)).toContain('Before')
        expect(await texts(asOwner)).not.toContain('After')
        const { items } = await succeeded(asOwner('GET', '/console/messenger/accounts'))
        expect(items).toMatchObject([{ id: account.id, status: 'disconnected', reason: 'left_workspace' }])
      }
      // They can connect it in a workspace of their own, and their old account doesn't revive when they come back.
      const { token } = await guest.signIn()
      const own: Call = (method, path, body) => platform.call(method, path, { token, body })
      await succeeded(own('POST', '/console/messenger/accounts/user', { shared: false }))
      await hears('Elsewhere')
      expect((await succeeded(own('GET', '/console/messenger/chats'))).items).toHaveLength(1)
    },
  )

  it('has no first of two approvals left, once that key has ended', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer, { requested_scopes: ['runs:write', 'tools:invoke'] })
    await succeeded(publish(developer, app))
    const named = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
    const { invite_link } = await succeeded(withKey(named.api_key)('POST', '/api/v1/dev/sandbox/invite'))
    const guest = await joining(invite_link)
    const { access_token } = await succeeded(developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`))
    const { token } = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    const asOwner: Call = (method, path, body) => platform.call(method, path, { token, body })
    const rules = [{ name: 'Two', approvers: { role: 'member' }, second_person: { when: 'always' } }]
    await succeeded(asOwner('PUT', '/console/settings/approvals', { rules }))
    const { id } = await succeeded(platform.call('POST', '/api/v1/runs', { token: access_token, body: {} }))
    const { installation_id } = await succeeded(asOwner('GET', `/console/runs/${id}`))
    const running = { status: 'running' as const, started_at: platform.clock.now() }
    await platform.deps.table.transact([RunEntity.update({ installation_id, id }, { set: running })])
    const asked = await succeeded(
      platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
        token: access_token,
        body: { run_id: id, arguments: { url: 'https://bank.example/pay', method: 'POST' } },
      }),
    )
    const decision = `/console/runs/${id}/steps/${asked.step_id}/decision`
    const first = await succeeded(guest.call('POST', decision, { decision: 'approve' }))
    expect(first.status).toBe('awaiting_approval')
    await developer.call('DELETE', `/api/v1/dev/me/keys/${named.id}`)
    const second = await succeeded(asOwner('POST', decision, { decision: 'approve' }))
    expect(second.status).toBe('awaiting_approval')
  })

  it('has no account left in the sandbox when they are invited again', async () => {
    const { developer } = await scene()
    const named = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
    const invite = async (call: Call): Promise<string> =>
      (await succeeded(call('POST', '/api/v1/dev/sandbox/invite'))).invite_link
    const guest = await joining(await invite(withKey(named.api_key)))
    const before = await succeeded(guest.call('POST', '/console/messenger/accounts/user', { shared: true }))
    await developer.call('DELETE', `/api/v1/dev/me/keys/${named.id}`)
    platform.clock.advance(60_000)
    telegram.say(guest.account, `/start ${await invite(developer.call)}`)
    await telegram.settled()
    telegram.press(guest.account, telegram.chat(guest.account).at(-1)?.message_id ?? 0, 0)
    await telegram.settled()
    telegram.business.connect(guest.account)
    await telegram.settled()
    await platform.drain()
    const { token } = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    const { items } = await succeeded(platform.call('GET', '/console/messenger/accounts', { token }))
    expect(items).toMatchObject([{ id: before.id, status: 'disconnected', reason: 'left_workspace' }])
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
    const guest = await joining((await succeeded(squatter.call('POST', '/api/v1/dev/sandbox/invite'))).invite_link)
    await takeOver(squatter)
    expectRefusal(await me(session), 'a session', 'unauthorized')
    expectRefusal(await guest.call('GET', '/console/me'), 'a guest', 'unauthorized')
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
    // Nor does the console offer them any.
    expect(await succeeded(call('GET', '/console/me'))).toMatchObject({ is_stand_in: true })
    const { email } = await succeeded(call('GET', '/console/notifications/preferences'))
    expect(email.available).toBe(false)
  })

  it('is somebody else after a recovery, who knows nothing of the first one’s connections', async () => {
    const { developer } = await scene()
    const before = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    const { api_key } = await recover(await emailOf(developer))
    const after = await succeeded(withKey(api_key)('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    expect(after.user.id).not.toBe(before.user.id)
    expect(after.workspace.id).toBe(before.workspace.id)
  })

  it('sees no grant of a key that has ended', async () => {
    const { developer, app } = await scene()
    const named = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
    await succeeded(withKey(named.api_key)('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`))
    await succeeded(developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`))
    const { token } = await succeeded(developer.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' }))
    const grants = async () => (await succeeded(platform.call('GET', '/console/grants', { token }))).items
    expect(await grants()).toHaveLength(2)
    await developer.call('DELETE', `/api/v1/dev/me/keys/${named.id}`)
    const [left, ...others] = await grants()
    expect(others).toEqual([])
    await succeeded(platform.call('POST', `/console/grants/${left.id}/pause`, { token }))
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
