export { PlatformIdentityEntity, PlatformSettingsEntity } from './entity.ts'
