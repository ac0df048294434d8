import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import tls from 'node:tls'

export interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
  /** Longest time until the response’s head, and until its end unless it is an event stream, in ms. */
  timeout?: number | undefined
}

/** A server that accepted a connection and didn’t answer in time. */
export class SilentServer extends Error {
  constructor(ms: number) {
    super(`No response within ${ms / 1_000} seconds.`)
    this.name = 'SilentServer'
  }
}

/** More than the platform takes for its slowest answer to this tool. */
const TIMEOUT_MS = 120_000

type Env = Record<string, string | undefined>

/**
 * Sends a request, through a proxy if the environment names one, and follows no redirect. Unlike `fetch` of Node 20, it notices
 * connections that end before an answer, and it knows proxies in every version.
 */
export const send = async (address: string, sent: Sent = {}, env: Env = process.env): Promise<Response> => {
  const { signal, timeout = TIMEOUT_MS } = sent
  signal?.throwIfAborted()
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new SilentServer(timeout)), timeout)
  const stop = () => limit.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const end = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
  try {
    const message = await exchange(new URL(address), sent, env, limit.signal)
    message.once('close', end)
    if (message.headers['content-type']?.startsWith('text/event-stream')) clearTimeout(timer)
    return responseOf(message)
  } catch (error) {
    end()
    throw limit.signal.aborted ? limit.signal.reason : error
  }
}

const responseOf = (message: IncomingMessage): Response => {
  const { statusCode: status = 0, headers } = message
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  const isEmpty = status === 204 || status === 304
  if (isEmpty) message.resume()
  return new Response(isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>), {
    status,
    headers: given,
  })
}

const exchange = async (url: URL, { method = 'GET', headers, body }: Sent, env: Env, signal: AbortSignal) => {
  const proxy = proxyFor(url, env)
  const options: RequestOptions = {
    method,
    signal,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
  }
  if (!proxy) return answerOf(libraryOf(url).request(url, options), body)
  if (url.protocol === 'http:') {
    const through = {
      ...options,
      path: url.href,
      headers: { ...options.headers, host: url.host, ...credentialsOf(proxy) },
    }
    return answerOf(libraryOf(proxy).request(proxy, through), body)
  }
  const socket = await tunnel(proxy, url, signal)
  const host = bare(url.hostname)
  // The certificate is that of the server, not of the proxy.
  const createConnection = () => tls.connect({ socket, ...(isIP(host) === 0 && { servername: host }), host })
  return answerOf(https.request(url, { ...options, createConnection }), body)
}

const libraryOf = ({ protocol }: URL) => (protocol === 'https:' ? https : http)

const answerOf = (request: ClientRequest, body: string | undefined): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    request.end(body)
  })

/** Opens a connection to a server through a proxy (RFC 9110 §9.3.6). */
const tunnel = (proxy: URL, { hostname, port }: URL, signal: AbortSignal): Promise<import('node:net').Socket> =>
  new Promise((resolve, reject) => {
    const path = `${hostname}:${port || 443}`
    const options = { method: 'CONNECT', path, signal, agent: false, headers: { host: path, ...credentialsOf(proxy) } }
    const request = libraryOf(proxy).request(proxy, options)
    request.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket)
      socket.destroy()
      reject(new Error(`The proxy ${proxy.host} refused the connection (HTTP ${statusCode}).`))
    })
    request.on('error', reject)
    request.end()
  })

const credentialsOf = ({ username, password }: URL): Record<string, string> => {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

export const isLoopback = ({ hostname }: URL): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|::1)$/.test(bare(hostname))

/**
 * Returns the proxy for an address, by the variables that curl and others read: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
 * `NO_PROXY`, in both cases. This machine needs none.
 */
export const proxyFor = (url: URL, env: Env): URL | undefined => {
  const value = (name: string): string => env[name.toLowerCase()] || env[name] || ''
  if (isLoopback(url) || isExempt(url, value('NO_PROXY'))) return undefined
  const given = value(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') || value('ALL_PROXY')
  if (given === '') return undefined
  const text = given.includes('://') ? given : `http://${given}`
  return URL.canParse(text) && /^https?:/.test(text) ? new URL(text) : undefined
}

const isExempt = (url: URL, list: string): boolean =>
  list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
      const name = host.replace(/^\*?\./, '')
      const matches = bare(url.hostname) === name || bare(url.hostname).endsWith(`.${name}`)
      return matches && (port === undefined || port === (url.port || (url.protocol === 'https:' ? '443' : '80')))
    })
