export { addSteps } from './add-steps.ts'
export { voidApprovalWrites } from './approval-pending.ts'
export { renewCallbackToken } from './callback-token.ts'
export {
  type ChainPosition,
  listActiveRuns,
  loadCallPosition,
  loadNewRunPosition,
  markTask,
  positionOf,
  refuseEndedChain,
} from './chain.ts'
export {
  changedRun,
  changeRun,
  loadRun,
  type RunKey,
  requireActive,
  requireStarted,
  runNotFound,
  runWrite,
  signOfLife,
} from './change.ts'
export { createdEventId, emitChatMoved, emitRunEvent, isRunEnd, MESSENGER_TRIGGER } from './emit.ts'
export {
  type Approval,
  ApprovalEntity,
  ApprovedCallEntity,
  ChainMarkEntity,
  InputKeyEntity,
  type InputRequest,
  InputRequestEntity,
  LastApprovedEntity,
  PROTOCOLS,
  pendingInputsOf,
  type Run,
  RunEntity,
  type Step,
  StepEntity,
  WorkspaceRunEntity,
} from './entity.ts'
export { RUN_EVENTS, type RunEventType } from './events.ts'
export { cancelRun, cancelRunAsPerson, cancelRunFor, completeRun, failRun, finishIf } from './finish.ts'
export { cancelFollowedCall, type Following, findFollowedRun, loadClientMessage } from './followed.ts'
export { loadPendingInputs } from './input-pending.ts'
export {
  AnswerInput,
  AskedInput,
  AskInput,
  type FormField,
  formOf,
  formProblems,
  type InputAnswer,
  type InputQuestion,
  type InputQuestions,
  type InputResponse,
  PendingInput,
  TEXT_FORM,
} from './input-schemas.ts'
export { isAwaitedByAgent, nextCheckAt, silentAfter } from './next-check.ts'
export { durationOf, failureText, presentOutput, presentRun, presentStep, presentWorkspaceRun } from './present.ts'
export { raiseBudgets } from './raise-budgets.ts'
export {
  findRunKey,
  listRuns,
  loadRunWithSteps,
  readRun,
  readRunForWorkspace,
  viewWithSteps,
} from './read.ts'
export {
  AddSteps,
  AgentAnswer,
  ApprovalSchema,
  CompleteRun,
  type Completion,
  Decide,
  DecideSeveral,
  InputRequired,
  type NewStep,
  RUN_BODY_BYTES,
  RunAgain,
  RunSchema,
  type RunView,
  runFilters,
  SeveralDecidedSchema,
  type SeveralDecisions,
  StartRun,
  StepSchema,
  type StepView,
  TraceSchema,
  WorkspaceRunSchema,
  withoutNulls,
} from './schemas.ts'
export { searchRuns } from './search.ts'
export { loadShape, withoutShapes } from './shaped-output.ts'
export { requestLines, ShownRequest } from './shown-request.ts'
export { isWaitingForInput, moveSlot, runsWithStatus } from './slots.ts'
export {
  dispatchAgain,
  firstDispatch,
  type NewRun,
  newRun,
  type PreparedRun,
  startRun,
} from './start.ts'
export { ACTIVE_STATUSES, isActive, RUN_STATUSES, type RunStatus } from './status.ts'
export { LOG_LEVELS, meaningOf } from './step-meaning.ts'
export { loadSteps, prepareSteps } from './steps.ts'
export { isOver, type RunEvent, runEvents, STREAM_START } from './stream.ts'
export { stateFields, stepChange } from './stream-numbers.ts'
export { readTrace } from './trace.ts'
export { addUsage, tokensOf } from './usage.ts'
export { RunMessage, runMessage } from './wake.ts'
