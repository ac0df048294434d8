export { readTotal, totalMoveWrites, totalWrite } from './totals.ts'
