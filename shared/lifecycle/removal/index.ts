export { endRemovedInstallation, handleOverdueRemoval } from './end-removed.ts'
export { endWithdrawnAccess, handleOverdueWithdrawal } from './end-withdrawn.ts'
export { runRemovalRound } from './round.ts'
