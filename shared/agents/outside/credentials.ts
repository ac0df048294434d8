import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { isObject } from '#shared/kernel/json-schema/json-object.ts'
import type { OutgoingRequest, OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { sha256 } from '#shared/kernel/secrets.ts'

type Auth = NonNullable<Extract<Manifest['runtime'], { type: 'a2a' }>['auth']>

/** The credentials of an outside agent could not be got from its token endpoint. */
export class CredentialsFailure extends Error {}

const settingOf = (settings: Readonly<Record<string, unknown>>, name: string | undefined): string | undefined => {
  const value = name === undefined ? undefined : settings[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns the name of a setting that the credentials need and the workspace hasn't set. */
export const missingSetting = (
  auth: Auth | undefined,
  settings: Readonly<Record<string, unknown>>,
): string | undefined =>
  auth && [auth.setting, auth.client_id_setting].find((name) => name !== undefined && !settingOf(settings, name))

/** Returns the headers that authenticate a workspace to its outside agent. @throws {CredentialsFailure} */
export const loadCredentials = async (
  deps: Pick<Deps, 'clock'>,
  send: (request: OutgoingRequest) => Promise<OutgoingResult>,
  auth: Auth | undefined,
  settings: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> => {
  const secret = settingOf(settings, auth?.setting)
  if (!auth || secret === undefined) return {}
  switch (auth.type) {
    case 'bearer':
      return { Authorization: `Bearer ${secret}` }
    case 'api_key':
      return { [auth.header ?? 'X-API-Key']: secret }
    case 'client_credentials':
      return { Authorization: `Bearer ${await loadToken(deps, send, auth, settings, secret)}` }
  }
}

/** Tokens of this process by the hash of what they were got with. They are never stored. */
const tokens = new Map<string, { token: string; until: number }>()
const MOST_TOKENS = 500

/** Lifetime of a token whose endpoint names none, and the time before its end in which it isn't used anymore. */
const DEFAULT_LIFE = 60
const MARGIN = 30 * SECOND

const loadToken = async (
  { clock }: Pick<Deps, 'clock'>,
  send: (request: OutgoingRequest) => Promise<OutgoingResult>,
  { token_url = '', client_id_setting, scope }: Auth,
  settings: Readonly<Record<string, unknown>>,
  secret: string,
): Promise<string> => {
  const clientId = settingOf(settings, client_id_setting) ?? ''
  const name = sha256(JSON.stringify([token_url, clientId, secret, scope ?? '']))
  const known = tokens.get(name)
  if (known && known.until > clock.now()) return known.token
  const basic = [clientId, secret].map((part) => encodeURIComponent(part)).join(':')
  const result = await send({
    method: 'POST',
    url: token_url,
    headers: {
      Accept: 'application/json',
      Authorization: `Basic ${Buffer.from(basic).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
      'User-Agent': 'AgentPlatform/1.0 (+a2a)',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }).toString(),
    deadlineMs: 5 * SECOND,
    maxResponseBytes: 64 * 1_024,
    repeatable: true,
  })
  const { access_token, expires_in = DEFAULT_LIFE } = bodyOf(result)
  if (typeof access_token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(access_token)) {
    throw new CredentialsFailure('The token endpoint answered without an access token.')
  }
  if (tokens.size >= MOST_TOKENS) tokens.clear()
  const life = typeof expires_in === 'number' && expires_in > 0 ? expires_in * SECOND - MARGIN : 0
  tokens.set(name, { token: access_token, until: clock.now() + life })
  return access_token
}

const bodyOf = (result: OutgoingResult): Readonly<Record<string, unknown>> => {
  if (result.kind === 'failure')
    throw new CredentialsFailure(`The token endpoint couldn’t be reached. ${result.message}`)
  if (result.status !== 200) throw new CredentialsFailure(`The token endpoint answered HTTP ${result.status}.`)
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(result.body))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
