export { type Added, platformCountWrite, type Sharded, shardOf } from './count.ts'
export {
  ActiveRunsEntity,
  PLATFORM_COUNTERS,
  type PlatformCounter,
  type PlatformHour,
  PlatformHourEntity,
  PlatformNowEntity,
  platformField,
} from './entity.ts'
