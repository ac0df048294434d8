import * as z from 'zod'
import { fail } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'

/**
 * The form of an address: a full http(s) address. Whether it may be used is {@link refuseForbidden}'s question, because
 * that depends on the deployment.
 */
export const webAddress = () =>
  z
    .string()
    .max(2_048)
    .refine((text) => URL.canParse(text), {
      error: 'must be a full address, such as https://example.com/',
      abort: true,
    })
    .refine((text) => ['https:', 'http:'].includes(new URL(text).protocol), 'must start with https://')
    .meta({ format: 'uri', example: 'https://example.com/' })

/** The characters of RFC 3986. A parser would drop or mend others, and then two addresses that differ would be one. */
const URI = /^https?:\/\/[\w.~:/?[\]@!$&'()*+,;=%-]+$/i

/** What comes back in the query (RFC 6749 §4.1.2, RFC 9207): parsers would find the address' own value first. */
const COMES_BACK = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/** Where authorization may send people back to: no custom scheme, and no fragment (RFC 6749 §3.1.2). */
export const redirectAddress = () =>
  webAddress()
    .refine((text) => !text.includes('#'), 'must not have a fragment (#…)')
    .refine((text) => text.includes('#') || URI.test(text), 'must have the characters of RFC 3986 only: encode others')
    .refine(
      (text) => !COMES_BACK.some((name) => new URL(text).searchParams.has(name)),
      `must not have ${COMES_BACK.join(', ')} in its query: they are added on the way back`,
    )
    .meta({ format: 'uri', example: 'https://example.com/callback' })

type Addresses = Partial<Record<string, unknown>>

const FIELDS = ['logo_url', 'privacy_url', 'homepage_url', 'install_url'] as const

/**
 * Refuses addresses that nobody may be sent to: anything but https on a public host; loopback only where the local
 * switch allows it (decisions §6 "Forbidden targets", §7, §10). Names are not looked up: nothing is fetched here.
 * @throws `blocked_target` naming every such field
 */
export const refuseForbidden = ({ http }: Pick<Deps, 'http'>, input: Addresses): void => {
  const fields: Record<string, string[]> = {}
  const look = (name: string, url: unknown): void => {
    const reason = typeof url === 'string' ? http.checkAddress(url) : undefined
    if (reason !== undefined) fields[name] = [reason]
  }
  for (const name of FIELDS) look(name, input[name])
  const uris = Array.isArray(input.redirect_uris) ? input.redirect_uris : []
  for (const [index, uri] of uris.entries()) look(`redirect_uris.${index}`, uri)
  const [first] = Object.entries(fields)
  if (!first) return
  throw fail('blocked_target', {
    message: `${first[0]} is forbidden. ${first[1][0]}`,
    details: { reason: first[1][0], fields },
  })
}
