export { type FetchedLogo, type LogoFetch, LogoFetchEntity, PLATFORM_LOGO } from './entity.ts'
export { LOGO_EVENTS } from './events.ts'
export {
  logoObject,
  logoPath,
  logoPathField,
  parseLogoFile,
  parseScreenshotFile,
  platformLogoPath,
} from './path.ts'
export { handleOverdueLogoFetch, isOnItsWay, logoFetchWrites } from './request.ts'
export { hashLogo, renderLogo, renderScreenshot } from './serve.ts'
