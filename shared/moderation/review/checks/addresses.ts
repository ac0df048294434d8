import { type SubmissionCheck, truncate } from './subject.ts'

/**
 * Checks that no address of the app points to a blocked target. It checks each address's text and, for addresses that
 * were called, what the name resolves to and what it redirects to.
 */
export const addressGuard: SubmissionCheck = async ({ deps, app, version, visits }) => {
  const given = {
    endpoint: version.endpoint,
    card_interface: version.card?.interface.url,
    logo_url: app.logo_url,
    privacy_url: app.privacy_url,
    homepage_url: app.homepage_url,
    install_url: app.install_url,
    ...Object.fromEntries(app.redirect_uris.map((url, i) => [`redirect_uris.${i}`, url])),
  }
  const [endpoint, logo, privacy, homepage] = await Promise.all([
    visits.unsigned,
    visits.logo,
    visits.privacy,
    visits.homepage,
  ])
  const called = {
    endpoint,
    logo_url: logo?.result,
    privacy_url: privacy?.result,
    homepage_url: homepage?.result,
  }
  const addresses = Object.entries(given).flatMap(([field, url]) => {
    if (url === undefined) return []
    const result = called[field as keyof typeof called]
    const met = result?.kind === 'failure' && result.phase === 'blocked' ? result.message : undefined
    const refused = deps.http.checkAddress(url) ?? met
    return [
      {
        field,
        address: truncate(url),
        called: result !== undefined,
        refused: refused === undefined ? null : truncate(refused),
      },
    ]
  })
  const refused = addresses.filter((address) => address.refused !== null)
  return refused.length === 0
    ? { status: 'passed', message: 'All addresses are public.', evidence: { addresses } }
    : {
        status: 'failed',
        message: `${refused.map(({ field }) => field).join(', ')}: not a public address.`,
        fix: 'Use public https addresses whose names resolve only to public IP addresses.',
        evidence: { addresses },
      }
}
