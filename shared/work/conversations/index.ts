export { loadAttachments } from './attachments.ts'
export { newConversation, newMessage, previewOf } from './create.ts'
export {
  type Conversation,
  ConversationEntity,
  conversationPlace,
  MESSENGER_STATUSES,
  type Message,
  MessageEntity,
  messageSchema,
  PersonChatEntity,
  ReadMarkEntity,
} from './entity.ts'
export { CONVERSATION_EVENTS, type ConversationEventType } from './events.ts'
export {
  listConversations,
  listMessages,
  listMessagesAsAgent,
  loadConversationAsAgent,
  readableFrom,
  searchMessages,
} from './read.ts'
export {
  ConversationSchema,
  MarkRead,
  MessageSchema,
  type MessageView,
  OpenChat,
  PersonConversationSchema,
  presentConversation,
  presentMessage,
  SayMessage,
  searchWords,
  WriteMessage,
} from './schemas.ts'
