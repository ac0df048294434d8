/**
 * An installation with OAuth 2.0 and PKCE, from the customer's consent to a refreshed access token.
 *
 * Requires only Node 22.18 or later, which runs TypeScript directly. For Node 20 or later, use `npx tsx`:
 *
 *     CLIENT_ID=... CLIENT_SECRET=... node install.ts
 *
 *     CLIENT_ID, CLIENT_SECRET  the app's credentials; POST /api/v1/dev/apps shows the secret once
 *     REDIRECT_URI              one of the app's redirect_uris, character for character; default:
 *                               http://127.0.0.1:8765/callback
 *     SCOPE                     scopes to request, separated by spaces; default: all that the app requests
 *     BASE_URL                  the platform's address; default: http://127.0.0.1:3000
 *
 * It prints an address. Open the address and consent. The sample then prints the installation.
 */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** The customer has 10 minutes to consent. */
const CONSENT_MS = 600_000

interface Tokens {
  access_token: string
  refresh_token: string
  scope: string
}

interface Me {
  app: { slug: string }
  workspace: { name: string }
  installation: { id: string }
}

const setting = (name: string, otherwise?: string): string => {
  const value = process.env[name] ?? otherwise
  if (value === undefined) throw new Error(`${name} is not set.`)
  return value
}

const call = async <T>(url: string, options: RequestInit = {}): Promise<T> => {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(30_000) })
  // biome-ignore lint/suspicious/noExplicitAny: a result or an error, depending on the status
  const answer: any = await response.json()
  if (response.ok) return answer
  const { code, message, fix } = answer.error
  throw new Error(`${code}: ${message} ${fix}`)
}

const authorizeUrl = (
  baseUrl: string,
  query: { clientId: string; redirectUri: string; state: string },
  verifier: string,
) => {
  const url = new URL(`${baseUrl}/oauth/authorize`)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: query.clientId,
    redirect_uri: query.redirectUri,
    state: query.state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(process.env.SCOPE && { scope: process.env.SCOPE }),
  }).toString()
  return url.href
}

const equal = (a: string, b: string): boolean => {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer]
  return timingSafeEqual(left, right)
}

/** Starts to listen at the redirect address. @returns a function that waits for the browser's return */
const listen = async (redirectUri: string, state: string, issuer: string) => {
  const { hostname, port, pathname } = new URL(redirectUri)
  let resolve: (back: URLSearchParams) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const answer = new Promise<URLSearchParams>((...settle) => {
    ;[resolve, reject] = settle
  })
  const server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', redirectUri)
    const reply = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
    const back = address.searchParams
    if (address.pathname !== pathname) return reply(404, 'Not found.')
    // A response with another state doesn't belong to this request (RFC 6749 section 10.12); one with another issuer
    // comes from another server (RFC 9207). Keep waiting, because the right response may still arrive.
    if (!equal(back.get('state') ?? '', state)) {
      return reply(400, 'This response does not belong to the current request.')
    }
    if (back.get('iss') !== issuer) return reply(400, 'This response comes from another server.')
    reply(200, 'Done. You can close this page.')
    resolve(back)
  })
  server.listen(Number(port || 80), hostname)
  await once(server, 'listening')
  const late = setTimeout(() => reject(new Error('The customer did not consent in time.')), CONSENT_MS)
  return () =>
    answer.finally(() => {
      clearTimeout(late)
      server.close()
    })
}

const main = async (): Promise<void> => {
  const baseUrl = setting('BASE_URL', 'http://127.0.0.1:3000').replace(/\/$/, '')
  const redirectUri = setting('REDIRECT_URI', 'http://127.0.0.1:8765/callback')
  const client = { client_id: setting('CLIENT_ID'), client_secret: setting('CLIENT_SECRET') }

  // Use both for this request only. The verifier proves that the same client requested and exchanges the code.
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(32).toString('base64url')

  const answered = await listen(redirectUri, state, baseUrl)
  console.log('Open this address:')
  console.log(authorizeUrl(baseUrl, { clientId: client.client_id, redirectUri, state }, verifier))

  const back = await answered()
  if (back.has('error')) throw new Error(`The customer denied the request: ${back.get('error')}`)

  const granted = await call<Tokens>(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...client,
      grant_type: 'authorization_code',
      code: back.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirectUri,
    }),
  })
  console.log(`Granted: ${granted.scope}`)

  // An access token is valid for 2 hours. Each refresh returns a new refresh token and ends the old one. Store the pair,
  // encrypted, before you use it. If the response is lost, repeat the request with the same Idempotency-Key.
  const tokens = await call<Tokens>(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'idempotency-key': randomUUID() },
    body: new URLSearchParams({ ...client, grant_type: 'refresh_token', refresh_token: granted.refresh_token }),
  })

  const me = await call<Me>(`${baseUrl}/api/v1/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
  console.log(`${me.app.slug} is installed in ${me.workspace.name} as ${me.installation.id}`)
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
