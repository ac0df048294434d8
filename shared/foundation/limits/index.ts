export { announceSpentBudget, spendDayBudget } from './day-budget.ts'
export { type Rate, type RateDecision, returnToBucket, takeFromBucket } from './gcra.ts'
export { rateLimited } from './rate-limited.ts'
export { closeStream, isStreamOpen, openStream } from './streams.ts'
