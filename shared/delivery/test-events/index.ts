export { triggerEvent } from './trigger.ts'
