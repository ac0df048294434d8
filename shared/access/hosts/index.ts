export { authenticateHost } from './authenticate.ts'
export { authorizeHost, pushHostRequest } from './authorize.ts'
export {
  decideHostConsent,
  loadOpenHostConsent,
  readHostConsent,
  readHostConsentStatus,
  wasHostConsentDecidedBy,
} from './consent.ts'
export { DecideHostConsent, HostConsentRequestSchema } from './consent-schemas.ts'
export { type HostClient, type HostGrant, HostGrantEntity } from './entity.ts'
export { disconnectHost, HostGrantSchema, listHostGrants, presentHostGrant } from './grants.ts'
export { authenticatePerson, loadPrincipal, type PersonPrincipal } from './person.ts'
export { RegisteredHostSchema, RegisterHost, registerHost } from './register.ts'
export { exchangeForHost, HostTokensSchema, revokeForHost } from './tokens.ts'
