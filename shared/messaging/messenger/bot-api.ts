import * as z from 'zod'
import type { Deps } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

/** Outcome of a Bot API call. */
export type BotCallOutcome<T> =
  | { kind: 'ok'; result: T }
  /** Telegram rejected the call and did nothing. */
  | { kind: 'refused'; status: number; description: string; retryAfterMs?: number | undefined }
  /** The request can't have reached Telegram. */
  | { kind: 'unreached'; description: string }
  /** The call may or may not have been executed. */
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
 * Calls a Bot API method once, with a bot's token. The token is part of the URL, so it must never appear in logs or
 * errors.
 * @param result schema of the method's result; any other response counts as unknown
 */
export const callBotApi = async <S extends z.ZodType>(
  { http, settings }: Calling,
  token: string,
  method: string,
  payload: Record<string, unknown>,
  result: S,
): Promise<BotCallOutcome<z.infer<S>>> => {
  const outcome = await http.send({
    method: 'POST',
    url: `${settings.telegramApiUrl}/bot${token}/${method}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
    deadlineMs: LIMITS.botDeadline,
    maxResponseBytes: LARGEST_ANSWER,
  })
  if (outcome.kind === 'failure') {
    return { kind: outcome.sent ? 'unknown' : 'unreached', description: `Telegram didn’t answer (${outcome.phase}).` }
  }
  const { status } = outcome
  const answer = Answer().safeParse(json(outcome.body)).data
  if (answer?.ok) {
    const given = result.safeParse(answer.result)
    return given.success
      ? { kind: 'ok', result: given.data }
      : { kind: 'unknown', description: 'Telegram returned an unexpected answer.' }
  }
  const description = (answer?.description ?? `Telegram answered ${status}.`).slice(0, 300)
  // After a server error, the call may still have been executed.
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

/** Returns the bot id, which is the first part of its token. */
export const botIdOf = (token: string): string => token.slice(0, token.indexOf(':'))

/** Returns true when Telegram rejects the token: 401, or 404 for a deleted bot or a malformed token. */
export const isTokenRejected = (called: BotCallOutcome<unknown>): boolean =>
  called.kind === 'refused' && (called.status === 401 || called.status === 404)
