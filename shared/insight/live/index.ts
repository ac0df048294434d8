export { pushUpdates } from './push.ts'
export { forgetConnection, receiveMessage } from './receive.ts'
export { Changed } from './schemas.ts'
