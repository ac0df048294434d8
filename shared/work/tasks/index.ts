export { applyTaskStep, askQuestion, questionStep, reportProgress, reportResult, setTaskStatus } from './by-agent.ts'
export { answerTask, createTask, delegateTaskAsPerson, editTask, runTask } from './by-person.ts'
export { taskNotFound } from './change.ts'
export { newTask } from './create.ts'
export { AssignedTaskEntity, LooseResultEntity, type Task, TaskEntity, TaskRunEntity } from './entity.ts'
export { TASK_EVENTS } from './events.ts'
export { presentTask } from './present.ts'
export { listTasks, listTasksForPerson, loadOwnTask, readTaskAsAgent, readTaskAsPerson } from './read.ts'
export { handleOverdueResult, releaseResult } from './result.ts'
export {
  AnswerTask,
  AskQuestion,
  CreateTask,
  EditTask,
  HandedTaskSchema,
  HandTask,
  ReportProgress,
  ReportResult,
  SetStatus,
  TaskSchema,
  TaskWithConversationSchema,
  taskDescription,
  taskFilters,
  taskTitle,
} from './schemas.ts'
export { newTaskRun } from './start-run.ts'
export { TASK_STATUSES, type TaskStatus } from './status.ts'
