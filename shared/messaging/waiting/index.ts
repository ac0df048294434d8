export { listWaiting } from './list.ts'
export { WaitingItemSchema } from './schemas.ts'
export { describeWaiting } from './tell.ts'
