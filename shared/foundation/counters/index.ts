export { type Added, platformCountWrite, type Sharded } from './count.ts'
export {
  PLATFORM_COUNTERS,
  type PlatformCounter,
  type PlatformHour,
  PlatformHourEntity,
  platformField,
} from './entity.ts'
