import type { App } from '#shared/catalogue/apps/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { standardError } from '#shared/kernel/oauth-errors.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { redirectBack } from '../oauth/redirect-back.ts'
import { refuseOtherResource } from '../oauth/resource.ts'
import { checkRedirectUri, checkRequest, loadTarget, storeConsent, type Target } from './authorize.ts'
import { PushedRequestEntity } from './entity.ts'

const URN = 'urn:ietf:params:oauth:request_uri:'

/**
 * Handles `GET /connect/authorize`. Errors about the client or its address are shown to the person. All others go back to
 * the client with `state` and `iss` (RFC 6749 §4.1.2.1, RFC 9207).
 * @returns the address of the consent page, or of the client
 */
export const authorizeStandard = async (work: Work, given: Record<string, string>): Promise<string> => {
  const { parameters, writes } = await pushedParameters(work, given)
  const target = await loadTarget(work, parameters)
  try {
    refuseOtherResource(work.settings, parameters.resource)
    return await storeConsent(work, target, checkRequest(target.app, parameters), 'connect', writes)
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status >= 500) throw error
    return refusal(work, target, error, parameters.state)
  }
}

const refusal = (work: Work, { redirect_uri }: Target, error: PlatformError, state: string | undefined): string =>
  redirectBack(
    work.settings,
    redirect_uri,
    { ...standardError(error), state: state === '' ? undefined : state },
    'connect',
  )

/** Parameters that a pushed request may hold. All others are ignored, as in an address. */
const PUSHED = [
  'redirect_uri',
  'response_type',
  'response_mode',
  'code_challenge',
  'code_challenge_method',
  'scope',
  'state',
  'resource',
] as const

export interface Pushed {
  request_uri: string
  expires_in: number
}

/** Handles `POST /connect/par` (RFC 9126): checks a request and keeps it until the person arrives, for 90 seconds. */
export const pushRequest = async (work: Work, app: App, given: Record<string, string | undefined>): Promise<Pushed> => {
  if (given.request_uri) {
    throw fail('invalid_request', {
      message: 'A pushed request can’t refer to another one.',
      fix: 'Omit request_uri.',
    })
  }
  const parameters = Object.fromEntries(
    PUSHED.flatMap((name) => {
      const value = given[name]
      return value ? [[name, value]] : []
    }),
  )
  checkRedirectUri(app, parameters)
  refuseOtherResource(work.settings, parameters.resource)
  checkRequest(app, parameters)
  const secret = newSecret()
  const answer = { request_uri: URN + secret, expires_in: LIMITS.pushedRequestLife / 1_000 }
  await work.commit(
    [
      PushedRequestEntity.create({
        request_hash: sha256(secret),
        app_id: app.id,
        parameters,
        expires_at: work.clock.now() + LIMITS.pushedRequestLife,
      }),
    ],
    answer,
  )
  return answer
}

/**
 * Returns the parameters of a request: those in the address, or the pushed ones. Of a pushed request the address gives
 * only the client (RFC 9126 §4). The returned writes use the request up.
 */
const pushedParameters = async (
  { table, clock }: Work,
  given: Record<string, string>,
): Promise<{ parameters: Record<string, string>; writes: Write[] }> => {
  const { request_uri, client_id = '' } = given
  if (!request_uri) return { parameters: given, writes: [] }
  const request_hash = sha256(request_uri.startsWith(URN) ? request_uri.slice(URN.length) : '')
  const pushed = await table.get(PushedRequestEntity, { request_hash })
  if (!pushed || pushed.app_id !== client_id || pushed.expires_at <= clock.now()) throw unknownRequest()
  return {
    parameters: { ...pushed.parameters, client_id },
    writes: [
      PushedRequestEntity.delete(
        { request_hash },
        { where: { app_id: pushed.app_id }, otherwise: () => unknownRequest() },
      ),
    ],
  }
}

const unknownRequest = (): PlatformError =>
  fail('invalid_request', {
    message: 'The request_uri is unknown, expired, already used, or of another client.',
    fix: 'Push the request again, and send the browser to the authorize address at once.',
  })
