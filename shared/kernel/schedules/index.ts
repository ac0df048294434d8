export { problemOf } from './times.ts'
export { nextTime } from './when.ts'
