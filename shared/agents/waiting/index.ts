export { type OpenRequest, type PrepareInPlace, paceLooks, prepareRun } from './looks.ts'
export { fitsInPlace, startAndWait } from './start-and-wait.ts'
export { waitForRun } from './wait.ts'
