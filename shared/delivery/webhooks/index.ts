export { changeWebhook, enableWebhook } from './change.ts'
export {
  ConnectedDeliverySchema,
  ConnectedWebhookSchema,
  listConnectedWebhooks,
  loadConnectedWebhook,
  presentConnected,
  presentConnectedDelivery,
} from './connected.ts'
export { createWebhook, deleteWebhook } from './create.ts'
export { deliver } from './deliver.ts'
export { DELIVERY_STATUSES, DeliveryEntity, type Subscription, SubscriptionEntity } from './entity.ts'
export { DeliveryMessage } from './message.ts'
export { handleOverdueDelivery } from './overdue.ts'
export { pauseWebhook, resumeWebhook } from './pause.ts'
export { presentDelivery, presentWebhook } from './present.ts'
export { listDeliveries, listWebhooks, loadWebhook } from './read.ts'
export { requestRecovery } from './recover.ts'
export { redeliver } from './redeliver.ts'
export { rotateSecret } from './rotate.ts'
export {
  ChangeWebhook,
  CreateWebhook,
  DeliverySchema,
  RecoverDeliveries,
  RecoveringWebhookSchema,
  TestResultSchema,
  WebhookSchema,
  WebhookWithSecretSchema,
} from './schemas.ts'
export { sendTestDelivery } from './test-delivery.ts'
