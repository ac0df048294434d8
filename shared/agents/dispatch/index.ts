export { executeApprovedCall } from './approved-tool.ts'
export { dispatchRun, resumeRun } from './dispatch.ts'
export { handleOverdueApproval, handleOverdueRun } from './overdue.ts'
