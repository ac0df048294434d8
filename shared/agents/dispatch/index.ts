export { executeApprovedCall } from './approved-tool.ts'
export { type Announcing, dispatchAwaitedRun, dispatchRun, resumeAwaitedRun, resumeRun } from './dispatch.ts'
export { handleOverdueApproval, handleOverdueInput, handleOverdueRun } from './overdue.ts'
