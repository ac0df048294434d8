export { addInstallation } from './add.ts'
export { canUpgrade } from './can-upgrade.ts'
export { emitInstallationEvent } from './emit.ts'
export {
  AppInstallationEntity,
  type Installation,
  InstallationEntity,
  InstallationPlaceEntity,
  installationsBy,
  ownedByInstallation,
  type Removal,
  RemovalEntity,
  WithdrawalEntity,
} from './entity.ts'
export { INSTALLATION_EVENTS, type InstallationEventType } from './events.ts'
export {
  type Agent,
  allowsCaller,
  canTakeTasks,
  chatRefusal,
  findAgent,
  listActiveAgents,
  requireChatScopes,
} from './find.ts'
export { ensureInstallation, type Install, type InstallPlan, withInstallation } from './install.ts'
export { defaultGrant } from './live-consents.ts'
export { loadInstallationsByApp, loadLastInstallations } from './lookup.ts'
export { blockedBy } from './permissions.ts'
export { InstallationPolicy, setPolicy } from './policy.ts'
export { InstallationDetailsSchema, installationSchema, presentDetails } from './present.ts'
export { type Installed, listInstallations, loadInstalled } from './read.ts'
export { removalWrites, removeInstallation, unsetPrimaryWrites } from './remove.ts'
export { ACCESS_WITHDRAWN, hasConsent, isWorking, mayUse, scopesInEffect } from './scopes.ts'
export { readSettings, writeSettings } from './settings.ts'
export { SettingsSchema, WriteSettings } from './settings-schemas.ts'
export { loadSettingsForAgent } from './settings-values.ts'
export { isSurfaceTokenValid, issueSurfaceToken, SurfaceTokenSchema } from './surface-token.ts'
export { UpgradedSchema, upgradeInstallation } from './upgrade.ts'
export { loadInstallableVersion } from './version.ts'
