export { executeApprovedCall } from './approved-tool.ts'
export { dispatchInPlace, dispatchRun, resumeAwaitedRun, resumeRun } from './dispatch.ts'
export { handleOverdueApproval, handleOverdueInput, handleOverdueRun } from './overdue.ts'
