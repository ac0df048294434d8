export { listAllApps } from './apps.ts'
export { checkSubmission } from './checks/check.ts'
export { claimApp } from './claim.ts'
export { curateApp } from './curate.ts'
export { approveApp, delistApp, rejectApp, suspendApp, unsuspendApp } from './decide.ts'
export { loadDossier } from './dossier.ts'
export { listQueue } from './queue.ts'
export { approveRevision, rejectRevision } from './revisions.ts'
export {
  AppDossierSchema,
  ApproveApp,
  ApproveRevision,
  appFilters,
  ClaimApp,
  Curate,
  CuratedAppSchema,
  checksQuery,
  ModeratedAppSchema,
  ModeratedVersionSchema,
  Reason,
  ReviewClaimSchema,
  ReviewItemSchema,
  SubmissionChecksSchema,
  TestInstall,
} from './schemas.ts'
export { submitApp } from './submit.ts'
export { testInstall } from './test-install.ts'
export { approveVersion, rejectVersion } from './versions.ts'
