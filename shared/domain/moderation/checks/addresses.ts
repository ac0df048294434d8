import { cut, type Look } from './subject.ts'

/**
 * No address of the app points where nobody may be sent: neither by its text, nor, of those that were called, by what its name
 * resolves to or what it redirects to.
 */
export const addressGuard: Look = async ({ deps, app, version, visits }) => {
  const given = {
    endpoint: version.endpoint,
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
      { field, address: cut(url), called: result !== undefined, refused: refused === undefined ? null : cut(refused) },
    ]
  })
  const refused = addresses.filter((address) => address.refused !== null)
  return refused.length === 0
    ? { status: 'passed', message: 'No address points inside.', evidence: { addresses } }
    : {
        status: 'failed',
        message: `${refused.map(({ field }) => field).join(', ')}: nobody may be sent there.`,
        fix: 'Use public https addresses, whose names resolve to public addresses only.',
        evidence: { addresses },
      }
}
