/** An error response of the Bot API: its code, its text and, for 429, the time to wait. */
export class TelegramError extends Error {
  readonly code: number
  readonly parameters: { retry_after: number } | undefined

  constructor(code: number, description: string, parameters?: { retry_after: number }) {
    super(description)
    this.code = code
    this.parameters = parameters
  }
}

/** Creates a 400 with Telegram's wording (telegram-bot-api, `Client::fail_query_with_error`). */
export const badRequest = (text: string): TelegramError => new TelegramError(400, `Bad Request: ${text}`)

export const tooManyRequests = (seconds: number): TelegramError =>
  new TelegramError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds })

/** Thrown for a completed call whose response is lost, because the connection is closed. */
export class HangUp extends Error {}
