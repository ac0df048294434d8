import * as z from 'zod'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'

/**
 * Absolute http(s) URL. Checks only the form. {@link requireAllowedAddresses} decides if the URL may be used, because that
 * depends on the deployment.
 */
export const webAddress = () =>
  z
    .string()
    .max(2_048)
    .refine((text) => URL.canParse(text), {
      error: 'must be an absolute URL, such as https://example.com/',
      abort: true,
    })
    .refine((text) => ['https:', 'http:'].includes(new URL(text).protocol), 'must start with https://')
    .meta({ format: 'uri', example: 'https://example.com/' })

/** Matches the characters of RFC 3986. A parser would drop or fix others, so two different URLs could become equal. */
const URI = /^https?:\/\/[\w.~:/?[\]@!$&'()*+,;=%-]+$/i

/** Parameters of the response (RFC 6749 §4.1.2, RFC 9207). If the URL had its own, parsers would find those first. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/** Redirect URI of an app. Allows no custom scheme and no fragment (RFC 6749 §3.1.2). */
export const redirectAddress = () =>
  webAddress()
    .refine((text) => !text.includes('#'), 'must not have a fragment (#…)')
    .refine(
      (text) => text.includes('#') || URI.test(text),
      'must contain only characters of RFC 3986; percent-encode others',
    )
    .refine(
      (text) => !RESPONSE_PARAMETERS.some((name) => new URL(text).searchParams.has(name)),
      `must not have ${RESPONSE_PARAMETERS.join(', ')} in its query, because the response adds them`,
    )
    .meta({ format: 'uri', example: 'https://example.com/callback' })

type Addresses = Partial<Record<string, unknown>>

const FIELDS = ['logo', 'logo_url', 'privacy_url', 'homepage_url', 'install_url'] as const

/**
 * Rejects URLs other than https on a public host. Allows loopback only if the local switch is on
 * (contract/apps-and-manifests.md#app-addresses). Resolves no names and fetches nothing.
 * @throws `blocked_target` naming every rejected field
 */
export const requireAllowedAddresses = ({ http }: Pick<Deps, 'http'>, input: Addresses): void => {
  const fields: Record<string, string[]> = {}
  const check = (name: string, url: unknown): void => {
    const reason = typeof url === 'string' ? http.checkAddress(url) : undefined
    if (reason !== undefined) fields[name] = [reason]
  }
  for (const name of FIELDS) check(name, input[name])
  const uris = Array.isArray(input.redirect_uris) ? input.redirect_uris : []
  for (const [index, uri] of uris.entries()) check(`redirect_uris.${index}`, uri)
  const [first] = Object.entries(fields)
  if (!first) return
  throw fail('blocked_target', {
    message: `The address in ${first[0]} is not allowed. ${first[1][0]}`,
    details: { reason: first[1][0], fields },
  })
}
