import * as z from 'zod'
import { SECOND } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'

/** What became of a call of the Bot API. */
export type Called<T> =
  | { kind: 'ok'; result: T }
  /** It said no: nothing was done. */
  | { kind: 'refused'; status: number; description: string; retryAfterMs?: number | undefined }
  /** No byte of it can have arrived. */
  | { kind: 'unreached'; description: string }
  /** It may or may not have been done. */
  | { kind: 'unknown'; description: string }

type Calling = Pick<Deps, 'http' | 'settings'>

/** core.telegram.org/bots/api#making-requests */
const Answer = () =>
  z.object({
    ok: z.boolean(),
    result: z.unknown().optional(),
    error_code: z.number().optional(),
    description: z.string().optional(),
    parameters: z.object({ retry_after: z.number().optional() }).optional(),
  })

const LARGEST_ANSWER = 256 * 1_024

/**
 * Calls a method of the Bot API as the bot of a token, once. The token is part of the address, so nothing here tells of it.
 * @param result what the method gives; an answer of another shape counts as unknown
 */
export const callBotApi = async <S extends z.ZodType>(
  { http, settings }: Calling,
  token: string,
  method: string,
  payload: Record<string, unknown>,
  result: S,
): Promise<Called<z.infer<S>>> => {
  const outcome = await http.send({
    method: 'POST',
    url: `${settings.telegram.apiUrl}/bot${token}/${method}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
    deadlineMs: LIMITS.botDeadline,
    maxResponseBytes: LARGEST_ANSWER,
  })
  if (outcome.kind === 'failure') {
    return { kind: outcome.sent ? 'unknown' : 'unreached', description: `Telegram did not answer (${outcome.phase}).` }
  }
  const { status } = outcome
  const answer = Answer().safeParse(json(outcome.body)).data
  if (answer?.ok) {
    const given = result.safeParse(answer.result)
    return given.success
      ? { kind: 'ok', result: given.data }
      : { kind: 'unknown', description: 'Telegram gave an unexpected answer.' }
  }
  const description = (answer?.description ?? `Telegram answered ${status}.`).slice(0, 300)
  // A fault on their side says nothing about what was done before it.
  if (status >= 500 || status < 400) return { kind: 'unknown', description }
  const retryAfter = answer?.parameters?.retry_after ?? (status === 429 ? 1 : undefined)
  return {
    kind: 'refused',
    status,
    description,
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter * SECOND }),
  }
}

const json = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** The id that a bot's token begins with. */
export const botIdOf = (token: string): string => token.slice(0, token.indexOf(':'))

/** Telegram knows the token no more: 401, and 404 for a bot that was deleted or a token of another shape. */
export const isRevoked = (called: Called<unknown>): boolean =>
  called.kind === 'refused' && (called.status === 401 || called.status === 404)
