export { type OpenRequest, type PrepareInPlace, paceChecks, prepareRun } from './pace.ts'
export { fitsInPlace, startAndWait } from './start-and-wait.ts'
export { waitForRun } from './wait.ts'
