import { createHash, randomBytes } from 'node:crypto'
import type { App } from '#shared/catalogue/apps/entity.ts'
import type { Role } from '#shared/identity/people/entity.ts'
import { installed } from './fixtures.ts'
import type { Answer, TestPlatform } from './platform.ts'

export const REDIRECT = 'https://client.example/callback'

/** Creates a verifier and its challenge (RFC 7636). */
export const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** A client that has a secret. */
export interface Client {
  app: Pick<App, 'id'>
  clientSecret: string
}

export interface Code {
  code: string
  verifier: string
}

const credentialsOf = ({ app, clientSecret }: Client) => ({ client_id: app.id, client_secret: clientSecret })

/** Parameters that redeem a code. */
export const redemptionOf = (client: Client, { code, verifier }: Code) => ({
  grant_type: 'authorization_code',
  ...credentialsOf(client),
  code,
  code_verifier: verifier,
  redirect_uri: REDIRECT,
})

/** Parameters that refresh a token. */
export const refreshOf = (client: Client, refresh_token: string) => ({
  grant_type: 'refresh_token',
  ...credentialsOf(client),
  refresh_token,
})

/** Parameters with which a client presents a token. */
export const presentationOf = (client: Client, token: string) => ({ ...credentialsOf(client), token })

/** Builds a request with a form. */
export const formOf = (fields: Record<string, string> | URLSearchParams) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})

let people = 0

/** Actions of a client, a person and a browser around consent. */
export const actors = (platform: TestPlatform) => {
  const call: TestPlatform['call'] = (...given) => platform.call(...given)

  const authorize = (app: App, changes: Record<string, string | undefined> = {}): Promise<Answer> => {
    const query = new URLSearchParams()
    const parameters = {
      client_id: app.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: pkce().challenge,
      code_challenge_method: 'S256',
      state: 'st/ate?&=é',
      ...changes,
    }
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value)
    return call('GET', `/oauth/authorize?${query}`)
  }

  /** Creates a consent link and returns its nonce. */
  const link = async (app: App, changes: Record<string, string | undefined> = {}): Promise<string> => {
    const answer = await authorize(app, changes)
    return new URL(answer.headers.location ?? '').searchParams.get('tg') ?? ''
  }

  const signIn = async (body: { user?: string; workspace?: string; role?: Role } = {}) => {
    const n = ++people
    const answer = await call('POST', '/console/session', {
      body: { user: `person-${n}`, workspace: `workspace-${n}`, ...body },
    })
    return answer.body as { token: string; user: { id: string }; workspace: { id: string } }
  }

  const open = (token: string, tg: string) => call('GET', `/oauth/consent/request?tg=${tg}`, { token })
  const decide = (token: string, tg: string, body: object = { decision: 'approve' }, headers = {}) =>
    call('POST', '/oauth/consent/decision', { token, headers, body: { tg, ...body } })

  /** Goes from the authorize request to a code, with a new person and workspace. */
  const consented = async (app: App, changes: Record<string, string | undefined> = {}, decision: object = {}) => {
    const { verifier, challenge } = pkce()
    const tg = await link(app, { code_challenge: challenge, ...changes })
    const person = await signIn()
    const answer = await decide(person.token, tg, { decision: 'approve', ...decision })
    const back = new URL(answer.body.redirect_to)
    return { code: back.searchParams.get('code') ?? '', verifier, person, back, tg }
  }

  const token = (parameters: Record<string, unknown>, headers: Record<string, string> = {}) =>
    call('POST', '/oauth/token.json', { body: parameters, headers })

  type Changes = Record<string, unknown>
  type Headers = Record<string, string>

  const redeem = (client: Client, code: Code, changes: Changes = {}, headers: Headers = {}) =>
    token({ ...redemptionOf(client, code), ...changes }, headers)
  const refresh = (client: Client, refreshToken: string, changes: Changes = {}, headers: Headers = {}) =>
    token({ ...refreshOf(client, refreshToken), ...changes }, headers)
  const revoke = (client: Client, presented: string) =>
    call('POST', '/oauth/revoke', formOf(presentationOf(client, presented)))
  const introspect = (client: Client, presented: string) =>
    call('POST', '/oauth/introspect', formOf(presentationOf(client, presented)))

  /** Creates an approved app with tokens granted by a new customer. */
  const connected = async (options: Parameters<typeof installed>[1] = {}) => {
    const client = await installed(platform.deps, options)
    const consent = await consented(client.app)
    const tokens = (await redeem(client, consent)).body
    return { ...client, consent, tokens }
  }

  /** Returns the status of the simplest API call with an access token. */
  const works = async (accessToken: string): Promise<number> =>
    (await call('GET', '/api/v1/me', { token: accessToken })).status

  return {
    authorize,
    link,
    signIn,
    open,
    decide,
    consented,
    token,
    redeem,
    refresh,
    revoke,
    introspect,
    connected,
    works,
  }
}

/**
 * Holds every transaction that writes this entity until `count` of them have arrived. All of them have then read the same
 * state, and only the write's condition decides between them.
 * @returns a function that restores normal operation
 */
export const holdUntil = ({ deps }: TestPlatform, entity: string, count: number): (() => void) => {
  const { table } = deps
  const original = table.transact.bind(table)
  let arrived = 0
  const gate = Promise.withResolvers<void>()
  table.transact = async (writes) => {
    if (writes.some((write) => write.entity.name === entity)) {
      if (++arrived >= count) gate.resolve()
      await gate.promise
    }
    return original(writes)
  }
  return () => {
    table.transact = original
  }
}
