export { BusMessage } from './bus-message.ts'
export { QUEUES, type QueueDefinition } from './queues.ts'
export { sendPromptly } from './send-promptly.ts'
