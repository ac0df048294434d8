export { ASSERTION_TYPE, type ClientKeys, checkAssertion, claimedClient } from './check.ts'
