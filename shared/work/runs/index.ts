export { addSteps } from './add-steps.ts'
export {
  approverTest,
  callHash,
  consumeApproval,
  type Decider,
  type Decision,
  decideApproval,
  decideApprovalByKey,
  findApplicableApproval,
  findApproval,
  findLastApproved,
  findOwnApproval,
  loadShownArguments,
  readRuling,
  requestApproval,
  voidApprovalWrites,
} from './approvals.ts'
export { renewCallbackToken } from './callback-token.ts'
export {
  type ChainPosition,
  listActiveRuns,
  loadCallPosition,
  loadNewRunPosition,
  markTask,
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
export {
  createdEventOf,
  emitRunEvent,
  emitUnannounced,
  isAnnounced,
  isRunEnd,
  MESSENGER_TRIGGER,
  recordRunEvent,
} from './emit.ts'
export { completeEnd, postponeEnd, settleRunOf } from './end.ts'
export {
  type Approval,
  ApprovalEntity,
  ChainMarkEntity,
  InputRequestEntity,
  PROTOCOLS,
  type Run,
  RunEntity,
  type Step,
  StepEntity,
  WorkspaceRunEntity,
} from './entity.ts'
export { RUN_EVENTS } from './events.ts'
export { cancelRun, cancelRunAsPerson, cancelRunFor, completeRun, failRun, finishIf } from './finish.ts'
export { cancelFollowedCall, type Following, findFollowedRun, loadClientMessage } from './followed.ts'
export {
  answerInput,
  answerInputAsPerson,
  askInput,
  failUnanswered,
  listPendingInputs,
  loadAnswers,
  loadAskedResult,
  loadOpenQuestions,
  loadPendingQuestions,
  presentPendingInput,
  type Responder,
  takeUnsentAnswers,
} from './input-requests.ts'
export {
  AnswerInput,
  AskedInput,
  AskInput,
  type FormField,
  formOf,
  type InputAnswer,
  type InputQuestion,
  type InputQuestions,
  type InputResponse,
  PendingInput,
  TEXT_FORM,
} from './input-schemas.ts'
export { isAwaitedByAgent, nextCheckAt } from './next-check.ts'
export { isWaitingForInput, runsWithStatus } from './places.ts'
export { durationOf, failureText, presentOutput, presentRun, presentStep, presentWorkspaceRun } from './present.ts'
export { raiseBudgets } from './raise-budgets.ts'
export {
  findRunKey,
  listRuns,
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
export { dispatchAgain, newRun, startRun } from './start.ts'
export { startAndWait } from './start-and-wait.ts'
export { ACTIVE_STATUSES, isActive, RUN_STATUSES, type RunStatus } from './status.ts'
export { LOG_LEVELS, meaningOf } from './step-meaning.ts'
export { commitSteps, loadSteps, prepareSteps } from './steps.ts'
export { isOver, type RunEvent, runEvents, STREAM_START } from './stream.ts'
export { stateFields, stepChange } from './stream-numbers.ts'
export { readTrace } from './trace.ts'
export { waitForRun } from './wait.ts'
export { runWakeMessage } from './wake.ts'
