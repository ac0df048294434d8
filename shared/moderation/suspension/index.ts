export { StoppageEntity } from './entity.ts'
export { SUSPENSION_EVENTS } from './events.ts'
export { setInstallationStatus } from './installation.ts'
export {
  ModeratedInstallationSchema,
  ModeratedWorkspaceSchema,
  presentModeratedWorkspace,
  SetStatus,
} from './schemas.ts'
export { handleOverdueStoppage, stopRuns } from './stop-runs.ts'
export { setWorkspaceStatus } from './workspace.ts'
