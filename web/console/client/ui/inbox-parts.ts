export { Approval } from './approval.tsx'
export { Questions } from './questions.tsx'
