export { isActive, isStillGiven, loadGiver, refuseStandIn } from './active.ts'
export { changeRole } from './change-role.ts'
export { deleteWorkspace, deletionWrites, restoreWorkspace } from './delete-workspace.ts'
export { editWorkspace } from './edit-workspace.ts'
export {
  atLeast,
  DELETED_PEOPLE,
  deletedPlace,
  FormerMemberEntity,
  formerWorkspacesOf,
  IdentityEntity,
  LEAVING_WORKSPACES,
  type Member,
  MemberEntity,
  MembershipEntity,
  ROLES,
  type Role,
  type Session,
  SessionEntity,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from './entity.ts'
export { HostSettingsSchema, hostSettingsOf, SetHosts, setHosts } from './host-settings.ts'
export { invite, listInvitations, revokeInvitation } from './invite.ts'
export { isRecovery } from './inviters.ts'
export { findJoinedWorkspace, joinWrites, loadInvitation } from './join.ts'
export { listMembers } from './members.ts'
export {
  type Belonging,
  findBelonging,
  findMember,
  findRecordedBelonging,
  isMembership,
  listWorkspacesOf,
  membershipCheck,
} from './memberships.ts'
export { OrganizationSchema, presentOrganization } from './organization.ts'
export {
  addPersonPasskey,
  beginPasskeySignIn,
  beginPersonPasskey,
  removePersonPasskey,
  signInByPasskey,
} from './passkeys.ts'
export { presentConsoleMember, presentIdentity, presentMember, presentSession } from './present.ts'
export { editProfile } from './profile.ts'
export { provisionSession } from './provision.ts'
export { changeMembership, findAnotherOwner, roleCheck } from './rank.ts'
export { requireRecentSignIn } from './recent-sign-in.ts'
export { inviteNewOwner } from './recover.ts'
export { findPersonByIdentity, resolvePerson } from './resolve-person.ts'
export {
  ChangeRole,
  ConsoleIdentitySchema,
  ConsoleMemberSchema,
  ConsoleSessionSchema,
  EditProfile,
  EditWorkspace,
  InvitationSchema,
  Invite,
  IssuedInvitationSchema,
  MemberSchema,
  ProvisionSession,
  SessionSchema,
  SwitchWorkspace,
  UserSchema,
  WorkspaceSchema,
} from './schemas.ts'
export { type ScopeHolder, scopeRefusal } from './scope-refusal.ts'
export {
  endOtherSessions,
  endSession,
  endSessionById,
  isSessionLive,
  listSessions,
  loadAccess,
  loadSession,
  recordUse,
  type SignedIn,
} from './sessions.ts'
export { suspended } from './suspended.ts'
export { switchWorkspace } from './switch-workspace.ts'
export { type TelegramPerson, TelegramUser, telegramIdentity, telegramPerson } from './telegram/person.ts'
export { WebAppAuth, WidgetAuth } from './telegram/schemas.ts'
export { signInByInitData, signInByWidget } from './telegram/sign-in.ts'
export { Bans, CrossAgent, changeWorkspaceSettings, OrganizationSettingsSchema } from './workspace-settings.ts'
export { newWorkspaceWrites } from './workspaces.ts'
