import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mailbox } from './aws/mailbox.ts'
import { handleS3, type Services } from './aws/server.ts'
import type { Telegram } from './telegram.ts'

// Paths on the platform's own port, for what clients reach elsewhere when the platform is deployed.
export const OBJECTS_PATH = '/local/objects'
export const MAILBOX_PATH = '/local/mailbox'
export const MESSENGER_PATH = '/local/messenger'

/** Dependencies of the stand-ins. */
export interface StandInOptions extends Pick<Services, 's3' | 'hook' | 'disk'> {
  mailbox: Mailbox
  telegram: Pick<Telegram, 'answerPage'>
  /** Address that the platform gives to clients. Signed addresses of objects are below it. */
  baseUrl: () => string
}

const refuse = (request: IncomingMessage, response: ServerResponse, status: number, text: string): true => {
  request.resume()
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
  return true
}

/**
 * Serves what a browser or an agent needs of the stand-ins: objects by signed addresses, the mailbox's page and the
 * messenger's pages. Everything else of AWS and the Bot API stays at the stand-ins' own ports.
 *
 * @returns a function that returns false for other requests
 */
export const createStandIns = ({ mailbox, telegram, baseUrl, ...services }: StandInOptions) => {
  const serveObject = (request: IncomingMessage, response: ServerResponse, { pathname, search, searchParams }: URL) => {
    // The key of the local run is no secret, but headers signed with it open more than addresses do.
    if (request.method !== 'OPTIONS' && !searchParams.has('X-Amz-Signature'))
      return refuse(request, response, 403, 'Objects are read and written by signed addresses here.')
    const { host, pathname: base } = new URL(baseUrl() + OBJECTS_PATH)
    request.url = pathname.slice(OBJECTS_PATH.length) + search
    // A file of a customer has the same origin as the console here. Its scripts must not run. Browsers show PDF in a viewer of
    // their own, which a sandbox would turn off.
    if (searchParams.get('response-content-type') !== 'application/pdf')
      response.setHeader('content-security-policy', 'sandbox')
    response.setHeader('x-content-type-options', 'nosniff')
    void handleS3(services, request, response, { host, prefix: base })
    return true
  }

  const serveMailbox = (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'GET') return refuse(request, response, 405, 'The mailbox is read with GET.')
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    response.end(mailbox.page())
    return true
  }

  const serveMessenger = (request: IncomingMessage, response: ServerResponse, url: URL) => {
    url.pathname = url.pathname.slice(MESSENGER_PATH.length)
    void telegram.answerPage(request, response, url)
    return true
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!request.url?.startsWith('/local/')) return false
    const url = new URL(request.url, 'http://localhost')
    if (url.pathname.startsWith(`${OBJECTS_PATH}/`)) return serveObject(request, response, url)
    if (url.pathname === MAILBOX_PATH) return serveMailbox(request, response)
    if (url.pathname.startsWith(`${MESSENGER_PATH}/`)) return serveMessenger(request, response, url)
    return false
  }
}
