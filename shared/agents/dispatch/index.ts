export { executeApprovedCall } from './approved-tool.ts'
export { dispatchRun, resumeRun } from './dispatch.ts'
export { handleOverdueApproval, handleOverdueInput, handleOverdueRun } from './overdue.ts'
