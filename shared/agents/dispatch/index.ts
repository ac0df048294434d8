export { CallMessage, executeApprovedCall } from './approved-tool.ts'
export { dispatchRun, NEEDS_IN_PLACE, newRunInPlace, resumeAwaitedRun, resumeRun } from './dispatch.ts'
export { handleOverdueApproval, handleOverdueInput, handleOverdueRun } from './overdue.ts'
