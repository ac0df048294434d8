export { ASSERTION_TYPE, type ClientKeys, checkAssertion } from './check.ts'
