export { listAppMessages, presentAppMessage, presentModeratedMessage, writeAsDeveloper } from './messages.ts'
export { listMessagesForModerators, writeAsModerator } from './moderate.ts'
export { AppMessageSchema, ModeratedAppMessageSchema, WriteAppMessage } from './schemas.ts'
