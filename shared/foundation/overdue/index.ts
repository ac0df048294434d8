export { SweepMarkEntity } from './entity.ts'
export { nextCheckAt } from './next-check.ts'
export { type OverdueHandler, sweepOverdue, sweepShard } from './sweep.ts'
