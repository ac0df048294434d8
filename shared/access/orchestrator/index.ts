export { type Identity, identityFrom, identityKey, identityRef, loadIdentity } from './identity.ts'
export {
  ORCHESTRATOR_APP_ID,
  ORCHESTRATOR_VERSION_ID,
  orchestratorApp,
  orchestratorId,
  orchestratorOf,
} from './principal.ts'
