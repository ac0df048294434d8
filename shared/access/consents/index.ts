export { authorize } from './authorize.ts'
export { AuthorizeQuery } from './authorize-query.ts'
export { authorizeStandard, pushRequest } from './authorize-standard.ts'
export { decideConsent, wasDecidedBy } from './decide.ts'
export { loadOpenConsent } from './load.ts'
export { readConsentRequest } from './request.ts'
export {
  ConsentDecidedSchema,
  ConsentQuery,
  ConsentRequestSchema,
  ConsentStatusSchema,
  DecideConsent,
} from './schemas.ts'
export { readConsentStatus } from './status.ts'
