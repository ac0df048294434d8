export { requestEmailProof } from './email.ts'
export { createKey, deleteKey, listKeys, liveKeys, presentKey, unchangedKeys } from './keys.ts'
export { presentDeveloper } from './present.ts'
export { proveEmail } from './prove-email.ts'
export { loadDeveloper, readProfile } from './read.ts'
export { recoverKey, requestRecovery } from './recover.ts'
export { registerDeveloper } from './register.ts'
export { renewInvite } from './renew-invite.ts'
export { checkKeyIsCurrent, rotateKey } from './rotate-key.ts'
export { openSandbox } from './sandbox-session.ts'
export {
  ClaimVendor,
  ConfirmEmail,
  CreateKey,
  DeveloperKeySchema,
  DeveloperSchema,
  DeveloperSessionSchema,
  EmailProofSchema,
  NamedKeySchema,
  NewNamedKeySchema,
  OpenSandbox,
  ProfileSchema,
  RecoverAccount,
  RecoveredSchema,
  RecoveryAcceptedSchema,
  RegisterDeveloper,
  RegisteredSchema,
  SandboxInviteSchema,
  StartSession,
} from './schemas.ts'
export { endDeveloperSession, requestSignIn, startDeveloperSession } from './session.ts'
export { claimVendor, loadVendorHolder, vendorWrites } from './vendor.ts'
