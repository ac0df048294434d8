import { consentPageEndpoints } from '#shared/http/consent-pages.ts'
import { CONSENT_LANGUAGES, consentPage } from '#web/consent/page.ts'

export const endpoints = consentPageEndpoints({
  group: 'connect',
  asks: 'host',
  languages: CONSENT_LANGUAGES,
  render: consentPage,
})
