/** An answer of the Bot API that is no success: its code, its text, and for 429 how long to wait. */
export class TelegramError extends Error {
  readonly code: number
  readonly parameters: { retry_after: number } | undefined

  constructor(code: number, description: string, parameters?: { retry_after: number }) {
    super(description)
    this.code = code
    this.parameters = parameters
  }
}

/** A 400 in Telegram's words (telegram-bot-api, `Client::fail_query_with_error`). */
export const badRequest = (text: string): TelegramError => new TelegramError(400, `Bad Request: ${text}`)

export const tooManyRequests = (seconds: number): TelegramError =>
  new TelegramError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds })

/** A call that is done, and whose answer is lost: the connection is closed. */
export class HangUp extends Error {}
