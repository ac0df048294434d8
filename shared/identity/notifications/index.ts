export { NOTIFICATION_LIFE, type Notification, NotificationEntity, notificationsOf } from './entity.ts'
export { NOTIFICATION_EVENTS } from './events.ts'
export { newNotification } from './new.ts'
export { notificationTexts, textsInLanguage } from './texts.ts'
