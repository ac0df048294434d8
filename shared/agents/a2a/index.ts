export { buildCard, buildLegacyCard } from './card.ts'
export type { A2aScene } from './client.ts'
export { A2aPushEntity } from './entity.ts'
export { A2A_EVENTS } from './events.ts'
export { findA2aAgent } from './find.ts'
export { elementTo, type Form as LegacyForm, protoCard, pushFrom, pushTo, sendingFrom, taskTo } from './legacy.ts'
export { type Message, readMessage } from './message.ts'
export { answerOf, loadOutput, type TaskState } from './present.ts'
export { handleOverduePush, PushMessage, sendPushes } from './push.ts'
export {
  createPush,
  deletePush,
  findPush,
  loadPushes,
  type PushConfig,
  presentPush,
  wakePushes,
} from './push-configs.ts'
export { takeMessage, waitForTask } from './send.ts'
export { EVENT_ID, hasSeenAll, isStill, type Position, positionAt, type TaskEvent, taskEvents } from './stream.ts'
export { cancelTask, findTask, listTasks, presentTask, type Shown, timeOf } from './tasks.ts'
