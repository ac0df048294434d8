export { handleDueSchedule } from './due.ts'
export {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  previewSchedule,
  resumeSchedule,
} from './edit.ts'
export { SCHEDULE_STATUSES, ScheduleEntity, schedulesOf } from './entity.ts'
export { SCHEDULE_EVENTS } from './events.ts'
export { endWrites, stopSchedule } from './pause.ts'
export { presentOccurrence, presentSchedule } from './present.ts'
export { listOccurrences, listSchedules, loadSchedule, type Manager, readCalendar } from './read.ts'
export { runScheduleNow } from './run-now.ts'
export {
  CalendarSchema,
  ChangeSchedule,
  NewPersonSchedule,
  NewSchedule,
  OccurrenceSchema,
  PreviewSchedule,
  PreviewSchema,
  ScheduleSchema,
} from './schemas.ts'
