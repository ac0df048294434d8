export { executeApprovedCall } from './approved-tool.ts'
export { dispatchAwaitedRun, dispatchRun, resumeAwaitedRun, resumeRun } from './dispatch.ts'
export { handleOverdueApproval, handleOverdueInput, handleOverdueRun } from './overdue.ts'
