export { checkCard } from './check.ts'
