import type { Deps } from '#shared/foundation/work/index.ts'
import { fromProtoJson } from '#shared/kernel/a2a-json.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { signedContent } from './canonical.ts'
import { type AgentCardPin, BINDINGS } from './schemas.ts'
import { type Confirmed, confirmSignatures, WrongSignature } from './signatures.ts'

const DEADLINE = 10 * SECOND
const MOST_SKILLS = 100
const LONGEST_ID = 200

/** Reason why a card can't be used, and what to do. */
export interface CardProblem {
  message: string
  fix: string
}

/**
 * Fetches an outside agent's card and returns what a version keeps of it. Redirects aren't followed.
 * @returns the problem if the card can't be fetched or names no interface that the platform may call
 */
export const pinAgentCard = async (deps: Pick<Deps, 'http'>, cardUrl: string): Promise<AgentCardPin | CardProblem> => {
  const result = await deps.http.send({
    method: 'GET',
    url: cardUrl,
    // An agent of both versions answers with the newer card.
    headers: { Accept: 'application/json', 'A2A-Version': '1.0', 'User-Agent': 'AgentPlatform/1.0 (+a2a)' },
    deadlineMs: DEADLINE,
    maxResponseBytes: LIMITS.agentCardBytes,
    repeatable: true,
  })
  const problem = problemOf(result)
  if (problem || result.kind !== 'response') return problem ?? NOT_A_CARD
  const raw = parse(result.body)
  if (!isObject(raw)) return NOT_A_CARD
  const card = fromProtoJson('Card', raw)
  const { name } = card
  if (typeof name !== 'string' || name.trim() === '') return NOT_A_CARD
  const known = interfacesOf(card)
  const [first] = known
  if (!first) {
    return {
      message: 'The card names no JSONRPC or HTTP+JSON interface of A2A 1.0 or 0.3.',
      fix: 'Offer one of these interfaces, and name it in the card.',
    }
  }
  const here = new URL(cardUrl)
  const hosts = [here.host, ...known.map(({ url }) => new URL(url).host)]
  let confirmed: Confirmed[]
  try {
    confirmed = await confirmSignatures(deps, raw, hosts)
  } catch (error) {
    if (error instanceof WrongSignature) return wrongSignature(error.kid)
    throw error
  }
  const refusals = known.map((one) => refusalOf(deps.http, one.url, here, confirmed))
  const chosen = known.find((_, n) => refusals[n] === undefined)
  if (!chosen) return refusals[0] as CardProblem
  const { host } = new URL(chosen.url)
  const signed = confirmed.find((one) => one.host === host) ?? confirmed.find((one) => one.host === here.host)
  return {
    sha256: sha256(result.body),
    content_sha256: sha256(signedContent(raw)),
    name: truncate(name, LONGEST_ID),
    interface: chosen,
    skills: skillsOf(card),
    ...(signed && { kid: signed.kid }),
    ...(isObject(card.capabilities) && card.capabilities.pushNotifications === true && { pushes: true }),
  }
}

const wrongSignature = (kid: string): CardProblem => ({
  message: `The card’s signature with the key ${truncate(kid, 100)} doesn’t match the card.`,
  fix: 'Sign the card again after each change: its canonical JSON (RFC 8785) without signatures and without anything empty.',
})

const NOT_A_CARD: CardProblem = {
  message: 'The address doesn’t answer with an A2A agent card.',
  fix: 'Use the address of the agent’s card, usually https://<host>/.well-known/agent-card.json.',
}

const problemOf = (result: OutgoingResult): CardProblem | undefined => {
  if (result.kind === 'failure') return { message: `The card couldn’t be fetched. ${result.message}`, fix: result.hint }
  if (result.status >= 300 && result.status < 400) {
    return {
      message: `The address of the card redirects (HTTP ${result.status}), and redirects aren’t followed.`,
      fix: 'Use the address that the card is served at.',
    }
  }
  if (result.status !== 200) {
    return { message: `The address of the card answered HTTP ${result.status} instead of 200.`, fix: NOT_A_CARD.fix }
  }
  if (result.truncated) {
    return {
      message: `The card is larger than ${LIMITS.agentCardBytes / 1_024} KiB.`,
      fix: 'Shorten the card, for example its examples and descriptions.',
    }
  }
  return undefined
}

const parse = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

type Interface = AgentCardPin['interface']

/** Returns the interfaces that the platform can call: those of version 1.0, then those of 0.3. */
const interfacesOf = (card: JsonObject): Interface[] => {
  const { supportedInterfaces, additionalInterfaces, url } = card
  // Cards of 0.3 may leave out what has a default. The official Go library writes it as empty.
  const preferredTransport = card.preferredTransport || 'JSONRPC'
  const protocolVersion = card.protocolVersion || '0.3.0'
  const declared = (Array.isArray(supportedInterfaces) ? supportedInterfaces : []).filter(isObject)
  const current = declared.map((one) => read(one.url, one.protocolBinding, one.protocolVersion, one.tenant))
  const legacy = [
    read(url, preferredTransport, protocolVersion),
    ...(Array.isArray(additionalInterfaces) ? additionalInterfaces : [])
      .filter(isObject)
      .map((one) => read(one.url, one.transport, protocolVersion)),
  ]
  const known = [...current, ...legacy].filter((one) => one !== undefined)
  return [...known.filter(({ version }) => version === '1.0'), ...known.filter(({ version }) => version === '0.3')]
}

const read = (url: unknown, binding: unknown, version: unknown, tenant?: unknown): Interface | undefined => {
  const spoken = BINDINGS.find((name) => name === binding)
  if (typeof url !== 'string' || url.length > 2_048 || !URL.canParse(url) || !spoken) return undefined
  const known = typeof version !== 'string' ? undefined : /^1(\.\d+)*$/.test(version) ? '1.0' : versionOf(version)
  if (!known) return undefined
  const place = typeof tenant === 'string' && tenant !== '' && tenant.length <= LONGEST_ID && { tenant }
  return { url, binding: spoken, version: known, ...place }
}

const versionOf = (version: string): '0.3' | undefined => (/^0\.3(\.\d+)*$/.test(version) ? '0.3' : undefined)

/**
 * Credentials and messages go to the interface. So it must be where the developer said that the agent is, or its host must
 * vouch for the card by a signature.
 */
const refusalOf = (
  http: Deps['http'],
  url: string,
  here: URL,
  confirmed: readonly Confirmed[],
): CardProblem | undefined => {
  const reason = http.checkAddress(url)
  if (reason !== undefined) {
    return { message: `The card’s interface ${url} is not allowed: ${reason}.`, fix: 'Use a public https address.' }
  }
  const there = new URL(url)
  if (there.protocol === here.protocol && there.host === here.host) return undefined
  if (there.protocol === here.protocol && confirmed.some(({ host }) => host === there.host)) return undefined
  return {
    message: `The card’s interface is at ${there.host}, but the card is at ${here.host}.`,
    fix: `Serve both from the same host, or sign the card with a key whose jku is at ${truncate(there.host, 200)}.`,
  }
}

const skillsOf = ({ skills }: JsonObject): string[] =>
  (Array.isArray(skills) ? skills : [])
    .filter(isObject)
    .flatMap(({ id }) => (typeof id === 'string' && id !== '' && id.length <= LONGEST_ID ? [id] : []))
    .slice(0, MOST_SKILLS)
