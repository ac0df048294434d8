export { announceEvent } from './announce.ts'
export { deliverNotification } from './deliver.ts'
export { NotificationPreferencesEntity, ReadStateEntity } from './entity.ts'
export { isRead, listNotifications, listUnread } from './list.ts'
export { confirmAddress, removeAddress, requestAddress } from './mail/address.ts'
export { NotificationMailEntity, PersonMailEntity } from './mail/entity.ts'
export { ConfirmEmail, EmailAddressSchema, PendingEmailSchema, SetEmail } from './mail/schemas.ts'
export { readUnsubscribeToken, unsubscribe, unsubscribeTexts } from './mail/unsubscribe.ts'
export { handleDueDigest, handleDueNotificationMail, handleMailWake, MailWake } from './mail/wake.ts'
export { markRead } from './mark-read.ts'
export { miniApp } from './message.ts'
export { PersonMessage } from './person-message.ts'
export { readPreferences, setPreferences } from './preferences.ts'
export { loadInbox, loadUnreadCount } from './read-state.ts'
export {
  MarkRead,
  NotificationSchema,
  PreferencesSchema,
  presentNotification,
  SetPreferences,
  UnreadSchema,
} from './schemas.ts'
export { startParameter } from './start-parameter.ts'
export { readUpdates } from './updates.ts'
