import { randomBytes } from 'node:crypto'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { signSvc } from '#shared/kernel/signatures.ts'

/** Deadline for one address, including its redirects. */
const DEADLINE_MS = 10_000
const REDIRECTS = 3
const PAGE_BYTES = 64 * 1_024

export const LOGO_BYTES = 1_024 * 1_024

const REDIRECT_STATUSES = [301, 302, 303, 307, 308]

/** The path of a call through its redirects, and its final result. */
export interface Visit {
  /** Every address that was called, in order. */
  addresses: string[]
  result: OutgoingResult
  /** The last address followed still redirected. */
  endless: boolean
}

/**
 * Starts the calls to outside addresses that the checks need. Each address is called once, all in parallel, with a
 * deadline and a size limit. Every address on the way must be an allowed target.
 */
export const beginVisits = (
  { http, clock }: Pick<Deps, 'http' | 'clock'>,
  addresses: { endpoint: string | undefined; privacy?: string; homepage?: string; logo?: string },
) => {
  const { endpoint, privacy, homepage, logo } = addresses
  const page = (url: string | undefined) => (url === undefined ? undefined : follow(http, url, PAGE_BYTES))
  return {
    unsigned: endpoint === undefined ? undefined : callUnsigned(http, clock, endpoint),
    wronglySigned: endpoint === undefined ? undefined : callWronglySigned(http, clock, endpoint),
    privacy: page(privacy),
    homepage: page(homepage),
    logo: logo === undefined ? undefined : visitLogo({ http }, logo),
  }
}

/** Fetches a logo, or one byte more than it may have. */
export const visitLogo = ({ http }: Pick<Deps, 'http'>, url: string): Promise<Visit> =>
  follow(http, url, LOGO_BYTES + 1)

export type Visits = ReturnType<typeof beginVisits>

const follow = async (http: Deps['http'], first: string, maxResponseBytes: number): Promise<Visit> => {
  const begun = performance.now()
  const addresses = [first]
  for (let url = first; ; ) {
    const result = await http.send({
      method: 'GET',
      url,
      headers: { 'User-Agent': AGENT, Accept: '*/*' },
      deadlineMs: Math.max(1, Math.round(DEADLINE_MS - (performance.now() - begun))),
      maxResponseBytes,
    })
    const next = nextOf(url, result)
    if (next === undefined) return { addresses, result, endless: false }
    if (addresses.length > REDIRECTS) return { addresses, result, endless: true }
    addresses.push(next)
    url = next
  }
}

const nextOf = (url: string, result: OutgoingResult): string | undefined => {
  if (result.kind === 'failure' || !REDIRECT_STATUSES.includes(result.status)) return undefined
  const { location } = result.headers
  return location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : undefined
}

const AGENT = 'AgentPlatform/1.0 (+moderation)'

/** Builds the body of an anonymous call. It names no real run, installation or data. */
const body = (clock: Deps['clock']): string =>
  JSON.stringify({
    type: 'run.execute',
    run: { id: 'run_00000000000000000000000000', input: {}, trigger: 'signature_check' },
    sent_at: clock.now(),
  })

const call = (http: Deps['http'], url: string, text: string, headers: Record<string, string>) =>
  http.send({
    method: 'POST',
    url,
    headers: { 'Content-Type': 'application/json', 'User-Agent': AGENT, 'X-SVC-Event': 'run.execute', ...headers },
    body: text,
    deadlineMs: DEADLINE_MS,
    maxResponseBytes: PAGE_BYTES,
  })

const callUnsigned = (http: Deps['http'], clock: Deps['clock'], url: string) => call(http, url, body(clock), {})

/** Calls with a well-formed, current signature made with a secret that no one else has. */
const callWronglySigned = (http: Deps['http'], clock: Deps['clock'], url: string) => {
  const text = body(clock)
  const secret = `agsec_${randomBytes(32).toString('base64')}`
  return call(http, url, text, { 'X-SVC-Signature': signSvc([secret], Math.floor(clock.now() / 1_000), text) })
}
