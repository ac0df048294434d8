export { type OpenRequest, type PreparedInPlace, type PrepareInPlace, paceLooks } from './looks.ts'
export { fitsInPlace, startAndWait } from './start-and-wait.ts'
export { waitForRun } from './wait.ts'
