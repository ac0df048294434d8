export {
  DeniedTools,
  loadPlatformSettings,
  PlatformSettingsSchema,
  PmIdentity,
  setDeniedTools,
  setPmIdentity,
} from './settings.ts'
