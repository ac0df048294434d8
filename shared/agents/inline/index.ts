export { runInline } from './run.ts'
