export { requestEmailProof } from './email.ts'
export { createKey, deleteKey, editKey, listKeys, unchangedKeys } from './keys.ts'
export { changeMemberRole, inviteMember, listMembers, removeMember } from './members.ts'
export {
  addMemberPasskey,
  beginMemberPasskey,
  beginMemberSignIn,
  listMemberPasskeys,
  removeMemberPasskey,
  signInByMemberPasskey,
} from './passkeys.ts'
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
  DeveloperMemberSchema,
  DeveloperSchema,
  DeveloperSessionSchema,
  EditKey,
  EditMember,
  EmailProofSchema,
  InviteMember,
  JoinAccount,
  ListedSessionSchema,
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
export { endDeveloperSession, joinAccount, requestSignIn, startDeveloperSession } from './session.ts'
export { endListedSession, endOtherDeveloperSessions, listDeveloperSessions } from './sessions.ts'
export { claimVendor, loadVendorHolder, vendorWrites } from './vendor.ts'
