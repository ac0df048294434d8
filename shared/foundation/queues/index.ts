export { BusMessage } from './bus-message.ts'
export { QUEUES, type QueueDefinition } from './queues.ts'
