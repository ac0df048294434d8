export { lookAtCard } from './look.ts'
