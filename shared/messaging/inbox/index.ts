export { announceEvent } from './announce.ts'
export { deliverNotification } from './deliver.ts'
export { NotificationPreferencesEntity, ReadStateEntity } from './entity.ts'
export { isRead, listNotifications, listUnread } from './list.ts'
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
