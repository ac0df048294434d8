import type { Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { PushedRequestEntity } from './entity.ts'

const URN = 'urn:ietf:params:oauth:request_uri:'

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

/** Returns the parameters of a request that a client pushes. @throws `invalid_request` */
export const readPushed = (given: Readonly<Record<string, string | undefined>>): Record<string, string> => {
  if (given.request_uri) {
    throw fail('invalid_request', {
      message: 'A pushed request can’t refer to another one.',
      fix: 'Omit request_uri.',
    })
  }
  return Object.fromEntries(
    PUSHED.flatMap((name) => {
      const value = given[name]
      return value ? [[name, value]] : []
    }),
  )
}

/** Keeps a checked request until the person arrives, for 90 seconds (RFC 9126 §2.2). */
export const keepPushed = async (
  work: Work,
  client_id: string,
  parameters: Record<string, string>,
): Promise<Pushed> => {
  const secret = newSecret()
  const answer = { request_uri: URN + secret, expires_in: LIMITS.pushedRequestLife / 1_000 }
  await work.commit(
    [
      PushedRequestEntity.create({
        request_hash: sha256(secret),
        client_id,
        parameters,
        expires_at: work.clock.now() + LIMITS.pushedRequestLife,
      }),
    ],
    answer,
  )
  return answer
}

/** An authorize request as the address gives it. */
export interface Asked {
  parameters: Record<string, string>
  /** Error of a repeated parameter, which goes back to the client. */
  fault?: PlatformError | undefined
}

/**
 * Returns a request: as the address gives it, or the pushed one. Of a pushed request the address gives only the client (RFC 9126
 * §4). The returned writes use the request up.
 * @throws `invalid_request`
 */
export const takePushed = async (
  { table, clock }: Pick<Work, 'table' | 'clock'>,
  asked: Asked,
): Promise<Asked & { writes: Write[] }> => {
  const { request_uri, client_id = '' } = asked.parameters
  if (!request_uri) return { ...asked, writes: [] }
  const request_hash = sha256(request_uri.startsWith(URN) ? request_uri.slice(URN.length) : '')
  const pushed = await table.get(PushedRequestEntity, { request_hash })
  if (!pushed || pushed.client_id !== client_id || pushed.expires_at <= clock.now()) throw unknownRequest()
  return {
    parameters: { ...pushed.parameters, client_id },
    writes: [PushedRequestEntity.delete({ request_hash }, { where: { client_id }, otherwise: () => unknownRequest() })],
  }
}

const unknownRequest = (): PlatformError =>
  fail('invalid_request', {
    message: 'The request_uri is unknown, expired, already used, or of another client.',
    fix: 'Push the request again, and send the browser to the authorize address at once.',
  })
