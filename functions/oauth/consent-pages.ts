import { consentPageEndpoints } from '#shared/http/consent-pages.ts'
import { CONSENT_LANGUAGES, consentPage } from '#web/consent/page.ts'

export const endpoints = consentPageEndpoints({
  group: 'oauth',
  asks: 'app',
  languages: CONSENT_LANGUAGES,
  render: consentPage,
})
