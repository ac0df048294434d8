import { beforeEach, describe, expect, it } from 'vitest'
import { endpoints as ofDevelopers } from '#functions/developer/members.ts'
import { requestFunctions } from '#functions/registry.ts'
import { developerRoleFor, type Endpoint } from '#shared/http/endpoint.ts'
import { DeveloperKeyEntity } from '#shared/identity/developers/entity.ts'
import { hasRights } from '#shared/identity/developers/roles.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { invited, newApp, newDeveloper, newTeammate, publish, signedInByEmail } from '#testkit/developers.ts'
import { createAuthenticator } from '#testkit/passkeys.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(3_600_000))

const MINUTE = 60_000
const endpoints = Object.values(requestFunctions)
  .flat()
  .filter(({ caller }) => caller === 'developer')
const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`

describe('a role in a developer account', () => {
  it.each(['viewer', 'developer', 'owner'] as const)(
    '%s: is refused wherever it isn’t enough, and nowhere else',
    async (role) => {
      const owner = await newDeveloper(platform)
      const { key } = await newTeammate(platform, owner, role)
      const { body: named } = await owner.call('POST', '/api/v1/dev/me/keys', { name: 'ci', role })
      // These end the session that asks, or the others.
      const ending = ['developer.session.end', 'developer.sessions.endOthers']
      for (const endpoint of endpoints.filter(({ id }) => !ending.includes(id))) {
        for (const credential of [key, named.api_key]) {
          platform.clock.advance(1_000)
          const answer = await platform.call(endpoint.method, pathWithUnknownIds(endpoint), {
            headers: { 'x-developer-key': credential },
            ...(endpoint.method !== 'GET' && { body: { unknown: true } }),
          })
          const isRefused = answer.body?.error?.details?.required_role !== undefined
          expect(isRefused, `${nameOf(endpoint)} ${answer.text.slice(0, 200)}`).toBe(
            !hasRights(role, developerRoleFor(endpoint)),
          )
          if (isRefused) expectRefusal(answer, nameOf(endpoint), 'forbidden')
        }
      }
    },
  )

  it('lets a viewer change nothing but their own sign-in, and get a token that only reads', () => {
    const changing = endpoints.filter((one) => one.method !== 'GET' && developerRoleFor(one) === 'viewer')
    expect(changing.map(({ id }) => id).sort()).toEqual([
      'developer.account.rotateKey',
      'developer.apps.sandboxToken',
      'developer.members.remove',
      'developer.passkeys.add',
      'developer.passkeys.begin',
      'developer.passkeys.remove',
      'developer.session.end',
      'developer.sessions.end',
      'developer.sessions.endOthers',
    ])
  })

  it('leaves teammates, keys and the deletion of apps to owners', () => {
    const ownersOnly = endpoints.filter((one) => developerRoleFor(one) === 'owner').map(({ id }) => id)
    expect(ownersOnly.sort()).toEqual([
      'developer.apps.delete',
      'developer.keys.create',
      'developer.keys.delete',
      'developer.keys.edit',
      'developer.members.edit',
      'developer.members.invite',
    ])
  })

  it('isn’t widened by a key: a rotated key keeps its role, and a session doesn’t turn into a key', async () => {
    const owner = await newDeveloper(platform)
    const cy = await newTeammate(platform, owner, 'viewer')
    expectRefusal(await cy.call('POST', '/api/v1/dev/me/rotate-key'), 'a session', 'conflict')
    const { body: named } = await owner.call('POST', '/api/v1/dev/me/keys', { name: 'ci', role: 'viewer' })
    const as = (key: string) => ({ headers: { 'x-developer-key': key } })
    const { body: rotated } = await platform.call('POST', '/api/v1/dev/me/rotate-key', as(named.api_key))
    expect((await platform.call('GET', '/api/v1/dev/me', as(rotated.api_key))).body.role).toBe('viewer')
    const { body: opened } = await platform.call('POST', '/api/v1/dev/session', { body: { api_key: rotated.api_key } })
    expect((await platform.call('GET', '/api/v1/dev/me', as(opened.session_key))).body.role).toBe('viewer')
    expectRefusal(
      await platform.call('POST', '/api/v1/dev/me/keys', { ...as(opened.session_key), body: { name: 'more' } }),
      'a session of a viewer’s key',
      'forbidden',
    )
  })

  it('isn’t an owner’s because it is missing in the key’s record', async () => {
    const owner = await newDeveloper(platform)
    const { body: named } = await owner.call('POST', '/api/v1/dev/me/keys', { name: 'ci', role: 'viewer' })
    const key = { key_hash: sha256(named.api_key) }
    await platform.deps.table.transact([DeveloperKeyEntity.update(key, { set: { role: undefined } })])
    const headers = { 'x-developer-key': named.api_key }
    for (const [path, body] of [
      ['/api/v1/dev/apps', { name: 'Mine', slug: 'mine', type: 'agent' }],
      ['/api/v1/dev/me/keys', { name: 'more' }],
    ] as const) {
      expectRefusal(await platform.call('POST', path, { headers, body }), path, 'forbidden')
    }
  })
})

describe('the teammates of another account', () => {
  it('aren’t found, changed or removed, and their invitations join no other account', async () => {
    const [mine, theirs] = [await newDeveloper(platform), await newDeveloper(platform)]
    const [bo, open] = [await newTeammate(platform, theirs, 'viewer'), await invited(platform, theirs, 'owner')]
    const { items } = (await mine.call('GET', '/api/v1/dev/members')).body
    expect(items).toHaveLength(1)
    for (const id of [bo.id, open.id]) {
      expectRefusal(await mine.call('PATCH', `/api/v1/dev/members/${id}`, { role: 'owner' }), 'role', 'not_found')
      expectRefusal(await mine.call('DELETE', `/api/v1/dev/members/${id}`), 'removal', 'not_found')
    }
    expect((await bo.call('GET', '/api/v1/dev/me')).body.role).toBe('viewer')
    const joined = await platform.call('POST', '/api/v1/dev/members/join', { body: { token: open.code, name: 'M' } })
    const me = await platform.call('GET', '/api/v1/dev/me', { headers: { 'x-developer-key': joined.body.session_key } })
    expect(me.body.id).toBe(theirs.id)
    expect(ofDevelopers).toHaveLength(5)
  })
})

describe('a removed teammate', () => {
  it('is out at once: sessions, links under way, passkeys and the sandbox in the console', async () => {
    const owner = await newDeveloper(platform)
    const app = await newApp(owner)
    await publish(owner, app)
    const bo = await newTeammate(platform, owner, 'developer')
    const second = await signedInByEmail(platform, bo.email)
    const authenticator = createAuthenticator()
    const { body: adding } = await bo.call('POST', '/api/v1/dev/me/passkeys/options')
    await bo.call('POST', '/api/v1/dev/me/passkeys', { name: 'Laptop', ...authenticator.create(adding) })
    const { body: console } = await bo.call('POST', '/api/v1/dev/sandbox/session', { as: 'owner' })
    expect((await platform.call('GET', '/console/me', { token: console.token })).status).toBe(200)
    const { body: asked } = await platform.call('POST', '/api/v1/dev/passkeys/sign-in/options')
    await platform.call('POST', '/api/v1/dev/sign-in', { body: { email: bo.email } })
    const link = /dvt_[\w-]+/.exec(platform.mails.at(-1)?.text ?? '')?.[0]

    expect((await owner.call('DELETE', `/api/v1/dev/members/${bo.id}`)).status).toBe(204)

    for (const { call } of [bo, second]) {
      const answers: Answer[] = [
        await call('GET', '/api/v1/dev/apps'),
        await call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`),
        await call('POST', '/api/v1/dev/me/passkeys/options'),
        await call('DELETE', '/api/v1/dev/session'),
      ]
      for (const answer of answers) expectRefusal(answer, 'a session', 'unauthorized')
    }
    expectRefusal(
      await platform.call('POST', '/api/v1/dev/session', { body: { token: link } }),
      'a link under way',
      'not_a_developer',
    )
    expectRefusal(
      await platform.call('POST', '/api/v1/dev/passkeys/sign-in', { body: authenticator.answer(asked) }),
      'a passkey',
      'unauthorized',
    )
    expectRefusal(await platform.call('GET', '/console/me', { token: console.token }), 'the sandbox', 'unauthorized')
    const mails = platform.mails.length
    await platform.call('POST', '/api/v1/dev/sign-in', { body: { email: bo.email } })
    expect(platform.mails.length).toBe(mails)
  })

  it('stays out, also if they sign in while they are removed', async () => {
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'developer')
    await platform.call('POST', '/api/v1/dev/sign-in', { body: { email: bo.email } })
    const token = /dvt_[\w-]+/.exec(platform.mails.at(-1)?.text ?? '')?.[0]
    const [session] = await Promise.all([
      platform.call('POST', '/api/v1/dev/session', { body: { token } }),
      owner.call('DELETE', `/api/v1/dev/members/${bo.id}`),
    ])
    const key = session.body.session_key ?? 'dvs_none'
    const after = await platform.call('GET', '/api/v1/dev/me', { headers: { 'x-developer-key': key } })
    expectRefusal(after, 'the session', 'unauthorized')
  })
})

describe('an account that somebody else registered with an address', () => {
  it('has no teammates or passkeys that stay when the address’s owner takes it over', async () => {
    const squatter = await newDeveloper(platform)
    const { email } = (await squatter.call('GET', '/api/v1/dev/me')).body
    const invite = { email: 'mallory@example.com', role: 'owner' }
    expectRefusal(await squatter.call('POST', '/api/v1/dev/members', invite), 'a teammate', 'email_not_verified')
    const { body } = await platform.call('POST', '/api/v1/dev/session', { body: { api_key: squatter.key } })
    const headers = { 'x-developer-key': body.session_key }
    for (const as of [{ headers }, { headers: { 'x-developer-key': squatter.key } }]) {
      expectRefusal(await platform.call('POST', '/api/v1/dev/me/passkeys/options', as), 'a passkey', 'forbidden')
    }
    const ada = await signedInByEmail(platform, email)
    expect((await ada.call('GET', '/api/v1/dev/members')).body.items).toHaveLength(1)
    expect((await squatter.call('GET', '/api/v1/dev/me')).status).toBe(401)
  })
})

describe('a passkey of another account', () => {
  it('isn’t seen or removed, also with a recent sign-in', async () => {
    const [mine, theirs] = [await newDeveloper(platform), await newDeveloper(platform)]
    const [mallory, bo] = [await newTeammate(platform, mine, 'owner'), await newTeammate(platform, theirs, 'viewer')]
    const { body: adding } = await bo.call('POST', '/api/v1/dev/me/passkeys/options')
    const { body } = await bo.call('POST', '/api/v1/dev/me/passkeys', {
      name: 'Laptop',
      ...createAuthenticator().create(adding),
    })
    expect((await mallory.call('GET', '/api/v1/dev/me/passkeys')).body.items).toEqual([])
    expectRefusal(await mallory.call('DELETE', `/api/v1/dev/me/passkeys/${body.id}`), 'a passkey', 'not_found')
  })
})

describe('a stolen session', () => {
  it('adds and removes no passkey once the sign-in is older than 10 minutes', async () => {
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'viewer')
    const { body: adding } = await bo.call('POST', '/api/v1/dev/me/passkeys/options')
    const { body } = await bo.call('POST', '/api/v1/dev/me/passkeys', {
      name: 'Laptop',
      ...createAuthenticator().create(adding),
    })
    platform.clock.advance(10 * MINUTE)
    expectRefusal(await bo.call('POST', '/api/v1/dev/me/passkeys/options'), 'adding', 'confirmation_required')
    expectRefusal(await bo.call('DELETE', `/api/v1/dev/me/passkeys/${body.id}`), 'removing', 'confirmation_required')
  })
})
