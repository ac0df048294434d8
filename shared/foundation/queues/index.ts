export { followedBy, hasFollowUp, transactAndSend } from './follow-up.ts'
export {
  CarryMessage,
  EventMessage,
  eventMessage,
  readMessage,
  StartMessage,
  TriggerMessage,
} from './messages.ts'
export { QUEUES, type QueueDefinition } from './queues.ts'
export { sendPromptly } from './send-promptly.ts'
