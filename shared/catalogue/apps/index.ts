export { requireAllowedAddresses, webAddress } from './addresses.ts'
export { createApp } from './create.ts'
export { editApp } from './edit.ts'
export {
  APP_STATUSES,
  APPS_BY_SLUG,
  type App,
  AppEntity,
  type AppRevision,
  AppStandingEntity,
  appsBy,
  DeveloperAppEntity,
  type ListedApp,
  ListedAppEntity,
  ListingPlaceEntity,
} from './entity.ts'
export { listingWrites, readListing, unlistingWrites } from './list-app.ts'
export { imageHashes, logoChangeWrites } from './logos.ts'
export { findLookalikes, type Lookalike, refuseSlugAsName } from './lookalikes.ts'
export { isModerated } from './moderated.ts'
export { loadOwnApps } from './own-apps.ts'
export { SORTS, type Sort, shelfOf } from './places.ts'
export { presentApp } from './present.ts'
export { listApps, loadOwnApp } from './read.ts'
export { ORCHESTRATOR_SLUG, SAMPLE_SLUG } from './reserved.ts'
export { planBadge, revisedFieldNames, revisedFields, revisionLogoWrites, withRevision } from './revise.ts'
export { rotateClientSecret } from './rotate-secret.ts'
export { rotateSigningSecret } from './rotate-signing-secret.ts'
export {
  AppSchema,
  type AppView,
  ClientSecretSchema,
  CreateApp,
  CreatedAppSchema,
  EditApp,
  RotateSigningSecret,
  SigningSecretSchema,
  similarToField,
} from './schemas.ts'
export {
  ScreenshotSchema,
  UPLOAD_BODY_BYTES,
  UploadedScreenshotSchema,
  UploadScreenshot,
} from './screenshot-schemas.ts'
export { presentScreenshots } from './screenshots.ts'
export { signingSecretRecord } from './signing-secret.ts'
export { standingLists, standingWrites } from './standing.ts'
export { uploadScreenshot } from './upload-screenshot.ts'
export { wordShelf, wordsOf } from './words.ts'
