export { calendarOf, datesUpTo } from './days.ts'
export { readAnalytics } from './read.ts'
export { AnalyticsSchema, analyticsQuery } from './schemas.ts'
