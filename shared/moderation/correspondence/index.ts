export { listAppMessages, presentAppMessage, writeAsDeveloper } from './messages.ts'
export { listMessagesForModerators, presentModeratedMessage, writeAsModerator } from './moderate.ts'
export { AppMessageSchema, ModeratedAppMessageSchema, WriteAppMessage } from './schemas.ts'
