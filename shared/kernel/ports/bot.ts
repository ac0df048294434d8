import type { ApiMethods, Opts } from 'grammy/types'

/** Credentials of the platform's own bot. */
export interface BotCredentials {
  /** `<bot id>:<secret>`, from BotFather. Signs the data that people sign in with, and is part of every Bot API URL. */
  token: string
  /** Secret that the Bot API sends with every update. */
  webhookSecret: string
}

/** Result of a Bot API method. */
export type BotAnswer<T> = { ok: true; result: T } | BotFailure

export interface BotFailure {
  ok: false
  /** True when a retry may help: no response, too many requests, a server error, or a token that is being replaced. */
  retry: boolean
  /** The Bot API's error code. Undefined without a response. */
  status: number | undefined
  /** The Bot API's description, for logs. Never contains the token. */
  description: string
  /** Wait that the Bot API asks for. */
  retryAfterMs?: number
}

/** The platform's own bot (contract/messenger.md#the-platforms-bot). */
export interface Bot {
  /** Returns the credentials, or undefined if no bot is configured. */
  credentials(): Promise<BotCredentials | undefined>
  /** Returns the bot's profile, cached for minutes. While the Bot API is down, returns the last known profile. */
  me(): Promise<BotAnswer<{ username: string }>>
  /** Calls a Bot API method once. Never throws for a remote failure. */
  call<M extends keyof ApiMethods>(method: M, payload: Opts<M>): Promise<BotAnswer<ReturnType<ApiMethods[M]>>>
}
