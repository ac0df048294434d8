export { sandboxRefusal } from './sandbox-budget.ts'
