export type { CheckEvent } from './check.ts'
export { handleDueSchedule, handleScheduleEvent } from './due.ts'
export {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  previewSchedule,
  resumeSchedule,
} from './edit.ts'
export {
  isTimed,
  SCHEDULE_STATUSES,
  ScheduleEntity,
  type ScheduleStatus,
  schedulesOf,
  type Trigger,
  TriggerEntity,
} from './entity.ts'
export { SCHEDULE_EVENTS } from './events.ts'
export { endWrites, stopSchedule } from './pause.ts'
export { presentOccurrence, presentSchedule } from './present.ts'
export { listProposals } from './proposals.ts'
export { listOccurrences, listSchedules, loadSchedule, type Manager, personManager, readCalendar } from './read.ts'
export { type LoadEvent, runScheduleNow } from './run-now.ts'
export {
  CalendarSchema,
  ChangeSchedule,
  NewPersonSchedule,
  NewSchedule,
  OccurrenceSchema,
  PreviewSchedule,
  PreviewSchema,
  ProposalsSchema,
  RunSchedule,
  ScheduleSchema,
} from './schemas.ts'
