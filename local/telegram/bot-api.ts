import type { IncomingMessage } from 'node:http'
import { badRequest, TelegramError } from './error.ts'
import type { Args, Result } from './methods.ts'

/** The response to a call: its status and its body. */
export interface ApiAnswer {
  status: number
  body: { ok: true; result: unknown; description?: string } | { ok: false; error_code: number; description: string }
}

const PATH = /^\/bot([^/]+)\/(\w+)\/?$/
const LARGEST_BODY = 1024 * 1024

export const readBody = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    size += (piece as Buffer).length
    if (size > LARGEST_BODY) throw new TelegramError(413, 'Request Entity Too Large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** Reads the arguments from the address and the body together, as Telegram does: query, form or JSON. */
const readArgs = async (request: IncomingMessage, query: URLSearchParams): Promise<Args> => {
  const args: Args = Object.fromEntries(query)
  const body = await readBody(request)
  if (body === '') return args
  if (!request.headers['content-type']?.includes('json')) {
    return { ...args, ...Object.fromEntries(new URLSearchParams(body)) }
  }
  try {
    return { ...args, ...(JSON.parse(body) as Args) }
  } catch {
    throw badRequest("can't parse request JSON object")
  }
}

/**
 * Answers one call of `/bot<token>/<method>`.
 *
 * @param botOf returns the bot of a token, whose `call` returns undefined for an unknown method
 * @returns undefined if the address does not belong to the API
 */
export const answerApi = async (
  request: IncomingMessage,
  url: URL,
  botOf: (token: string) => { call(method: string, args: Args): Result | undefined } | undefined,
): Promise<ApiAnswer | undefined> => {
  const [, token, method = ''] = PATH.exec(decodeURIComponent(url.pathname)) ?? []
  if (token === undefined) return undefined
  try {
    const args = await readArgs(request, url.searchParams)
    const bot = botOf(token)
    if (!bot) {
      const wellFormed = /^[1-9]\d*:/.test(token) && token.length <= 80
      throw new TelegramError(401, wellFormed ? 'Unauthorized' : 'Unauthorized: invalid token specified')
    }
    const result = bot.call(method, args)
    if (!result) throw new TelegramError(404, 'Not Found: method not found')
    return { status: 200, body: { ok: true, ...result } }
  } catch (error) {
    if (!(error instanceof TelegramError)) throw error
    const { code, message, parameters } = error
    return {
      status: code,
      body: { ok: false, error_code: code, description: message, ...(parameters && { parameters }) },
    }
  }
}
