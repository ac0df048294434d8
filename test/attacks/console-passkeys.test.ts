import { beforeEach, describe, expect, it } from 'vitest'
import { createAuthenticator, type TestAuthenticator } from '#testkit/passkeys.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const MINUTE = 60_000

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60 * MINUTE))

let people = 0
const call = (method: string, path: string, token?: string, body?: unknown): Promise<Answer> =>
  platform.call(method, path, { token, body })
const person = async () => (await call('POST', '/console/session', undefined, { user: `Victim ${++people}` })).body
const add = async (token: string, authenticator: TestAuthenticator) => {
  const { body: asked } = await call('POST', '/console/passkeys/options', token)
  return call('POST', '/console/passkeys', token, { name: 'Laptop', ...authenticator.create(asked) })
}
const options = async () => (await call('POST', '/console/passkeys/sign-in/options')).body
const signIn = (body: unknown) => call('POST', '/console/passkeys/sign-in', undefined, body)

describe('a person’s passkeys', () => {
  it('can’t be added or removed with a session older than 10 minutes, and their person is notified', async () => {
    const ann = await person()
    const { id } = (await add(ann.token, createAuthenticator())).body
    platform.clock.advance(10 * MINUTE)
    for (const [method, path] of [
      ['POST', '/console/passkeys/options'],
      ['DELETE', `/console/passkeys/${id}`],
    ] as const) {
      const { status, body } = await call(method, path, ann.token)
      expect([status, body.error.code, body.error.details]).toEqual([
        403,
        'confirmation_required',
        { confirm_with: 'sign_in' },
      ])
    }
    const { items } = (await call('GET', '/console/notifications', ann.token)).body
    expect(items).toMatchObject([{ kind: 'account.passkeys', title: 'A passkey was added to your account' }])
  })

  it('aren’t seen or removed by anybody else, not even an owner of the workspace', async () => {
    const ann = await person()
    const { id } = (await add(ann.token, createAuthenticator())).body
    const body = { user: `Owner ${++people}`, workspace: ann.workspace.id, role: 'owner' }
    const { token } = (await call('POST', '/console/session', undefined, body)).body
    expect((await call('GET', '/console/passkeys', token)).body.items).toEqual([])
    expect((await call('DELETE', `/console/passkeys/${id}`, token)).status).toBe(404)
  })
})

describe('a passkey’s answer', () => {
  it('signs in to no account but its own, once, from this site, and only if it checked its user', async () => {
    const [ann, mallory] = [await person(), await person()]
    const [hers, his] = [createAuthenticator(), createAuthenticator()]
    await add(ann.token, hers)
    await add(mallory.token, his)
    const refused = async (body: unknown, why: string) => {
      const { status, body: answer } = await signIn(body)
      expect([status, answer.error.code], why).toEqual([401, 'unauthorized'])
    }
    const forged = his.answer(await options())
    const { userHandle } = hers.answer(await options()).credential.response
    await refused(
      { ...forged, credential: { ...forged.credential, response: { ...forged.credential.response, userHandle } } },
      'her account with his passkey',
    )
    const phished = createAuthenticator({ origin: 'https://platform.test.evil.example' })
    expect((await add(ann.token, phished)).body.error.code).toBe('validation_error')
    const plain = createAuthenticator({ verifiesUser: false })
    expect((await add(ann.token, plain)).body.error.code).toBe('validation_error')

    const asked = await options()
    const answer = hers.answer(asked)
    await refused({ ...answer, challenge_id: (await options()).challenge_id }, 'another challenge')
    const both = await Promise.all([signIn(answer), signIn(answer)])
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1)
    await refused(answer, 'a second time')
    const late = hers.answer(await options())
    platform.clock.advance(5 * MINUTE)
    await refused(late, 'late')
    // A challenge for adding a passkey signs nobody in.
    const { token } = (await signIn(hers.answer(await options()))).body
    const { body: adding } = await call('POST', '/console/passkeys/options', token)
    await refused(hers.answer({ ...adding, options: { ...adding.options, rpId: 'platform.test' } }), 'another purpose')
  })
})
