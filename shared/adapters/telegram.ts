import { Api, GrammyError } from 'grammy/web'
import { type Clock, MINUTE, SECOND } from '../kernel/clock.ts'
import { LIMITS } from '../kernel/limits.ts'
import type { Bot, BotAnswer, BotCredentials, BotFailure } from '../kernel/ports/bot.ts'
import { cachedFetch } from './cached-fetch.ts'

/** Time after which a renamed bot is noticed. */
const KNOWN_FOR = 10 * MINUTE

export interface TelegramOptions {
  credentials: () => Promise<BotCredentials | undefined>
  /** Address of the Bot API's server, without a trailing slash. */
  apiUrl: string
  clock: Clock
}

/**
 * Creates the platform's own bot over grammY's client of the Bot API. Every address contains the token, so the client's
 * errors are never passed on. Results contain the Bot API's own description, or the system's error code.
 */
export const createTelegramBot = ({ credentials, apiUrl, clock }: TelegramOptions): Bot => {
  let made: { token: string; api: Api; me: () => Promise<{ username: string }> } | undefined
  const client = (token: string) => {
    if (made?.token !== token) {
      const api = new Api(token, {
        apiRoot: apiUrl,
        timeoutSeconds: LIMITS.botDeadline / SECOND,
        sensitiveLogs: false,
        // A redirect would disclose the token to another server.
        baseFetchConfig: { redirect: 'error' },
      })
      made = { token, api, me: cachedFetch(clock, KNOWN_FOR, () => api.getMe()) }
    }
    return made
  }
  const withClient = async <T>(use: (made: ReturnType<typeof client>) => Promise<T>): Promise<BotAnswer<T>> => {
    const known = await credentials()
    if (!known) return { ok: false, retry: false, status: undefined, description: 'no bot is configured' }
    try {
      return { ok: true, result: await use(client(known.token)) }
    } catch (error) {
      return failure(error)
    }
  }
  return {
    credentials,
    me: () => withClient(({ me }) => me()),
    call: (method, payload) =>
      withClient(({ api }) => (api.raw[method] as (payload: unknown) => Promise<never>)(payload)),
  }
}

/** Statuses that are permanent: the person blocked the bot, a message is deleted, a query is too old. */
const FINAL = new Set([400, 403])

const failure = (error: unknown): BotFailure => {
  if (!(error instanceof GrammyError)) {
    return { ok: false, retry: true, status: undefined, description: `no answer: ${codeOf(error)}` }
  }
  const { error_code: status, description, parameters } = error
  const { retry_after } = parameters
  return {
    ok: false,
    retry: !FINAL.has(status),
    status,
    // The description may quote the request, such as an address with a nonce.
    description: description.replaceAll(/'[^']*'/g, '…').slice(0, 300),
    ...(retry_after !== undefined && { retryAfterMs: retry_after * SECOND }),
  }
}

/**
 * Returns a code such as `ECONNREFUSED` from underneath the client's and fetch's errors. Their texts may hold the
 * address.
 */
const codeOf = (error: unknown): string => {
  for (let at = error; at instanceof Error; at = 'error' in at ? at.error : at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return 'unknown'
}
