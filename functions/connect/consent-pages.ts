import { consentPageEndpoints } from '#shared/http/consent-pages.ts'
import { consentPage } from '#web/consent/page.ts'

export const endpoints = consentPageEndpoints({ group: 'connect', asks: 'host', render: consentPage })
