export { assignAgent } from './assign.ts'
export { releaseBot } from './bot-claim.ts'
export { connectBot } from './connect-bot.ts'
export { connectUser } from './connect-user.ts'
export { approveDraft, rejectDraft } from './decide.ts'
export { listDrafts } from './drafts.ts'
export { BusinessConnectionEntity, connectionsOf, OutgoingEntity, TelegramPersonEntity } from './entity.ts'
export { MESSENGER_EVENTS } from './events.ts'
export { memberLeavesWrites, removeAccountsOf } from './leave.ts'
export { handleOverdueAccount, handleOverdueOutgoing } from './overdue.ts'
export { presentAccount, presentThread, presentThreadMessage } from './present.ts'
export { receiveUpdate } from './receive.ts'
export { releasePersonWrites, removalWrites, removeAccount } from './remove.ts'
export {
  AccountSchema,
  AccountUpdate,
  ApproveDraft,
  AssignAgent,
  ConnectBot,
  ConnectUser,
  ShareAccount,
  ThreadMessageSchema,
  ThreadSchema,
  WriteThreadMessage,
} from './schemas.ts'
export { shareAccount } from './share.ts'
export { listThreadMessages, listThreads, loadThread } from './threads.ts'
export { handleMessengerMessage, MessengerMessage } from './wake.ts'
export { writeAsPerson } from './write.ts'
export { writeAsAgent } from './write-as-agent.ts'
