export { loadOverview } from './overview.ts'
export { OverviewSchema } from './overview-schema.ts'
