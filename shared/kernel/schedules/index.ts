export { nextTime, problemOf } from './times.ts'
