import { hasConsent, InstallationEntity } from '#shared/access/installations/index.ts'
import { loadPayload, storePayload } from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo, type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import type { NewStep, RunView } from '../runs/index.ts'
import {
  changeRun,
  emitChatMoved,
  emitRunEvent,
  findRunKey,
  finishIf,
  formOf,
  formProblems,
  type InputAnswer,
  InputKeyEntity,
  type InputQuestions,
  type InputRequest,
  InputRequestEntity,
  type InputResponse,
  isAwaitedByAgent,
  loadPendingInputs,
  moveSlot,
  nextCheckAt,
  pendingInputsOf,
  prepareSteps,
  presentRun,
  type Run,
  type RunKey,
  requireActive,
  requireStarted,
  runWrite,
  silentAfter,
  stepChange,
  TEXT_FORM,
} from '../runs/index.ts'

/**
 * Questions of a run (contract/runs.md#questions). The run stays `running`. While it waits, it leaves the active places.
 *
 *     running ──ask──► running, waiting ──all answered──► running
 *                          └ unanswered for 24 hours ──► failed, input_timeout
 */
export interface AskedQuestions {
  questions: InputQuestions
  /** Platform tool that asks. */
  tool?: string | undefined
  /** Id of the step; for questions that name it. */
  step_id?: string | undefined
  /** Steps that the agent reports with its questions. */
  steps?: readonly NewStep[]
  /** Name of the agent that asks. Default: the installation's. */
  asker?: string
  /** Answer to the request that asks. Default: the step's id and the end of the wait. */
  answer?: unknown
}

/** Stored forms of an input request. */
type Asked = { input_requests: InputQuestions }
type Answers = {
  responses: Record<string, InputAnswer>
  /** Messages of a protocol that brought them, as they were sent. */
  messages?: unknown[]
}

const textOf = (question: InputQuestions[string]): string =>
  formOf(question)?.message ?? ('method' in question ? `The agent sends ${question.method} to the client.` : '')

const textOfAll = (questions: InputQuestions): string =>
  truncate(Object.values(questions).map(textOf).join('\n\n'), LIMITS.questionCharacters)

/**
 * Asks the person who started a run. Ends a run that another agent waits for, because nobody could answer in time.
 * @throws `run_already_finished`, also for a run that another agent waits for; `conflict` while queued, with 10 pending
 *   steps, or with 50 waiting runs; `validation_error` for a used key; `too_many_steps`
 */
export const askInput = async (
  work: Work,
  key: RunKey,
  asked: AskedQuestions,
): Promise<{ step_id: string; expires_at: string }> => {
  const refused = await changeRun(work, key, async (run) => {
    requireStarted(run)
    // Clients that follow a run over a protocol can answer it.
    return isAwaitedByAgent(run) && run.protocol === undefined ? run : ask(work, run, asked)
  })
  if ('step_id' in refused) return refused
  await finishIf(withoutAnswer(work), key, () => true, {
    status: 'cancelled',
    error_code: 'input_required',
    error_message: textOfAll(asked.questions),
  })
  throw fail('run_already_finished', {
    message: 'Another agent waits for this run, so it can’t ask a person. The run was cancelled.',
    fix: 'The asking agent gets the question. It can call again with the answer in the arguments.',
  })
}

const ask = async (
  work: Work,
  run: Run,
  { questions, tool, step_id = work.id('step'), steps: reported = [], answer, asker }: AskedQuestions,
) => {
  const { input_steps = [] } = run
  refuseClientRequests(run, questions)
  if (input_steps.length >= LIMITS.pendingInputs) {
    throw fail('conflict', {
      message: `The run already waits for answers to ${LIMITS.pendingInputs} steps.`,
      fix: 'Wait for the event run.input_received before you ask more.',
    })
  }
  const now = work.clock.now()
  const place = `runs/${run.id}/${step_id}/input_requests`
  const stored = await storePayload(work, place, { input_requests: questions } satisfies Asked, LIMITS.questionBytes)
  const steps = await prepareSteps(work, run, [
    ...reported,
    { id: step_id, type: 'input_request', status: 'pending', output: {}, stored, ...(tool !== undefined && { tool }) },
  ])
  const waiting = [...input_steps, step_id]
  // The call that waits for it gets the questions, and ends. From then on the run has a clock of its own.
  const detached = isAwaitedByAgent(run) && { is_detached: true }
  const changes = {
    ...steps.counts,
    ...detached,
    input_steps: waiting,
    alive_at: now,
    due_at: nextCheckAt({ ...run, ...detached }, undefined),
  }
  const due_at = now + (run.protocol === 'mcp' ? LIMITS.inputLifeMcp : LIMITS.inputLife)
  const response = { step_id, expires_at: iso(due_at) }
  await work.commit(
    [
      runWrite(run, changes),
      ...steps.writes,
      InputRequestEntity.create({
        step_id,
        run_id: run.id,
        seq: steps.counts.last_seq,
        workspace_id: run.workspace_id,
        installation_id: run.installation_id,
        private_to: run.private_to,
        tool,
        asked: stored,
        answered: [],
        status: 'pending',
        created_at: now,
        due_at,
      }),
      ...Object.keys(questions).map((name) =>
        InputKeyEntity.create(
          { run_id: run.id, key: name, created_at: now },
          { otherwise: () => invalid({ [`input_requests.${name}`]: ['was used in this run before'] }) },
        ),
      ),
      ...moveSlot(run, waiting),
      emitRunEvent(work, 'run.input_required', { ...run, ...changes }, { step_id }),
      ...(await notificationWrites(work, run, step_id, questions, asker)),
      ...emitChatMoved(work, run),
    ],
    answer ?? response,
  )
  return response
}

const invalid = (fields: Record<string, string[]>) => fail('validation_error', { details: { fields } })

/** @throws `validation_error` for a request to an MCP client, unless one started the run */
const refuseClientRequests = ({ protocol }: Run, questions: InputQuestions): void => {
  if (protocol === 'mcp') return
  const forClients = Object.entries(questions).filter(([, question]) => 'method' in question)
  if (forClients.length === 0) return
  throw fail('validation_error', {
    message: 'Only runs that an MCP client started take `method` and `params`.',
    fix: 'Send a message, and a schema for the answer.',
    details: { fields: Object.fromEntries(forClients.map(([key]) => [`input_requests.${key}`, ['needs a message']])) },
  })
}

/** Notifies the workspace's people, or the one whose chat the run belongs to. */
const notificationWrites = async (
  work: Work,
  run: Run,
  step_id: string,
  questions: InputQuestions,
  asker: string | undefined,
): Promise<Write[]> => {
  const { workspace_id, installation_id: id, app_id } = run
  const name = asker ?? (await work.table.get(InstallationEntity, { workspace_id, id }))?.app_name
  return newNotification(work, {
    workspace_id,
    user_id: run.private_to,
    kind: 'agent.question',
    title:
      name === undefined ? msg('An agent has a question') : msg('{agent} has a question', { agent: quoteName(name) }),
    body: textOfAll(questions),
    installation_id: id,
    app_id,
    target: { type: 'run', id: run.id, step_id },
  }).writes
}

/** Questions of one step that aren't answered yet. */
export interface PendingQuestions {
  step_id: string
  questions: InputQuestions
}

/** Loads the unanswered questions of a run, oldest first. */
export const loadPendingQuestions = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  run: Pick<Run, 'id' | 'input_steps'>,
): Promise<PendingQuestions[]> =>
  Promise.all(
    (await loadPendingInputs(deps, run)).map(async ({ step_id, asked, answered }) => {
      const stored = (await loadPayload(deps, asked)) as Asked | null
      const open = Object.entries(stored?.input_requests ?? {}).filter(([key]) => !answered.includes(key))
      return { step_id, questions: Object.fromEntries(open) }
    }),
  )

/** Person or installation that answers. */
export interface Responder {
  type: 'user' | 'installation'
  id: string
  /** Host that a person answers through, as the audit names it. */
  via?: Record<string, string> | undefined
}

/**
 * Records answers to a run's pending questions. Partial answers are kept; unknown and answered keys are ignored. The run
 * takes an active place again once nothing is pending.
 * @param options.isClient whether the MCP client that started the run answers. Only it gives a method's result.
 * @param options.message the message of the run's protocol that brings the answers, which is kept with them
 * @throws `run_already_finished`; `validation_error` for content that doesn't match its form; `too_many_active_runs`
 */
export const answerInput = (
  work: Work,
  key: RunKey,
  { via, ...responder }: Responder,
  responses: Record<string, InputAnswer>,
  { isClient = false, message }: { isClient?: boolean; message?: object } = {},
): Promise<RunView> =>
  changeRun(work, key, async (run) => {
    requireActive(run)
    const pending = await loadPendingInputs(work, run)
    const answers = (
      await Promise.all(pending.map((asked) => takeAnswers(work, asked, responses, isClient, message)))
    ).filter((taken) => taken.keys.length > 0)
    const problems = answers.flatMap(({ problems: found }) => found)
    if (problems.length > 0) throw invalid(Object.fromEntries(problems))
    if (answers.length === 0) return presentRun(work, run)
    const now = work.clock.now()
    const done = new Set(answers.filter(({ isComplete }) => isComplete).map(({ asked }) => asked.step_id))
    const waiting = (run.input_steps ?? []).filter((id) => !done.has(id))
    const input_steps = waiting.length > 0 ? waiting : undefined
    let counts: Partial<Pick<Run, 'stream_seq'>> = {}
    const writes: Write[] = []
    for (const { asked, keys, isComplete, stored, output } of answers) {
      const step = stepChange({ ...run, ...counts }, asked, { output, ...(isComplete && { status: 'answered' }) })
      counts = step.counts
      writes.push(
        step.write,
        InputRequestEntity.update(
          asked,
          {
            set: { answers: stored, ...(isComplete && { status: 'answered', due_at: undefined }) },
            append: { answered: keys },
            ...(isComplete && { list: null }),
          },
          { where: { status: 'pending' } },
        ),
      )
    }
    const changes = {
      ...counts,
      input_steps,
      alive_at: now,
      ...(!input_steps &&
        run.status === 'running' && { due_at: nextCheckAt(run, silentAfter({ ...run, input_steps }, now)) }),
    }
    const changed: Run = { ...run, ...changes }
    const view = await presentRun(work, changed)
    await work.commit(
      [
        runWrite(run, changes),
        ...writes,
        ...moveSlot(run, waiting),
        ...answers.map(({ asked }) => emitRunEvent(work, 'run.input_received', changed, { step_id: asked.step_id })),
        ...answers.map(({ asked, keys }) =>
          auditEntry(work, {
            scope: run.workspace_id,
            action: 'run.answered',
            actor: responder,
            target: { type: 'run', id: run.id },
            private_to: run.private_to,
            details: { step_id: asked.step_id, keys, installation_id: run.installation_id, ...(via && { via }) },
          }),
        ),
      ],
      view,
    )
    return view
  })

/** Merges new answers into those of a step, and checks them. */
const takeAnswers = async (
  work: Work,
  asked: InputRequest,
  responses: Record<string, InputAnswer>,
  isClient: boolean,
  message: object | undefined,
) => {
  const { input_requests } = (await loadPayload(work, asked.asked)) as Asked
  const keys = Object.keys(input_requests).filter(
    (key) => Object.hasOwn(responses, key) && !asked.answered.includes(key),
  )
  const problems = keys.flatMap((key) => problemsOf(key, input_requests[key], responses[key] as InputAnswer, isClient))
  if (keys.length === 0 || problems.length > 0) return { asked, keys, problems, isComplete: false }
  const before: Answers = asked.answers ? ((await loadPayload(work, asked.answers)) as Answers) : { responses: {} }
  const merged: Answers = {
    responses: {
      ...before.responses,
      ...Object.fromEntries(
        keys.map((key) => [key, keptAnswer(input_requests[key], responses[key] as InputAnswer, isClient)]),
      ),
    },
    ...((before.messages || message) && { messages: [...(before.messages ?? []), ...(message ? [message] : [])] }),
  }
  const isComplete = Object.keys(input_requests).every((key) => Object.hasOwn(merged.responses, key))
  // A place per attempt: of two answers, the one that loses must not overwrite the other's.
  const place = `runs/${asked.run_id}/${asked.step_id}/${work.requestId}`
  const result = isComplete && asked.tool !== undefined && { result: resultOf(merged) }
  const [stored, output] = await Promise.all([
    storePayload(work, `${place}/responses`, merged),
    storePayload(work, `${place}/output`, { input_requests, ...merged, ...result }, 2 * LIMITS.runPayloadBytes),
  ])
  return { asked, keys, problems, isComplete, stored, output }
}

/** Keeps a client's result of a method unchanged. In the answer to a form, content counts only if it was accepted. */
const keptAnswer = (
  question: InputQuestions[string] | undefined,
  answer: InputAnswer,
  isClient: boolean,
): InputAnswer => {
  if (isClient && question !== undefined && 'method' in question) return answer
  const { action, content = {} } = answer as InputResponse
  return action === 'accept' ? { action, content } : { action }
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel']

const problemsOf = (
  key: string,
  question: InputQuestions[string] | undefined,
  answer: InputAnswer,
  isClient: boolean,
): [string, string[]][] => {
  if (question === undefined || (isClient && 'method' in question)) return []
  const form = formOf(question)
  if (!form) return [[`responses.${key}`, ['can be answered only by the client that started the run']]]
  const { action, content = {} } = answer as InputResponse
  if (!ACTIONS.includes(action)) return [[`responses.${key}.action`, ['must be accept, decline or cancel']]]
  if (action !== 'accept') return []
  if (typeof content !== 'object' || Array.isArray(content))
    return [[`responses.${key}.content`, ['must be an object']]]
  return formProblems(form.schema ?? TEXT_FORM, content).map(([field, message]) => [
    `responses.${key}.content.${field}`,
    [message],
  ])
}

/** Result of the tool that asked one question: `{action}`, with the fields of an accepted form. */
const resultOf = ({ responses }: Answers): Record<string, unknown> => {
  const [response] = Object.values(responses)
  const { action, content = {} } = response as InputResponse
  return { ...content, action }
}

/** Records a member's answers. @throws `not_found`, and the errors of {@link answerInput} */
export const answerInputAsPerson = async (
  work: Work,
  workspaceId: string,
  userId: string,
  runId: string,
  responses: Record<string, InputResponse>,
): Promise<RunView> => {
  const key = await findRunKey(work, workspaceId, runId, userId)
  const installation = await work.table.get(InstallationEntity, { workspace_id: workspaceId, id: key.installation_id })
  if (installation?.status === 'revoked') throw fail('run_already_finished', { message: 'The app was uninstalled.' })
  if (installation && !hasConsent(installation)) {
    throw fail('run_already_finished', { message: 'The app’s access was withdrawn.' })
  }
  return answerInput(work, key, { type: 'user', id: userId }, responses)
}

/** Loads the result of a tool's question: undefined while nobody answered. */
export const loadAskedResult = async (
  work: Work,
  run_id: string,
  step_id: string,
): Promise<Record<string, unknown> | undefined> => {
  const asked = await work.table.get(InputRequestEntity, { run_id, step_id })
  if (asked?.status !== 'answered' || !asked.answers) return undefined
  return resultOf((await loadPayload(work, asked.answers)) as Answers)
}

/** Most steps with questions in a run: each takes a step. */
const MOST = LIMITS.stepsPerRun

/**
 * Loads the answers that the agent of a run hasn't been sent yet, and the writes that mark them as sent. Writes fail if
 * another worker sends them.
 */
export const takeUnsentAnswers = async (
  work: Work,
  run: Run,
): Promise<{ step_id: string; steps: string[]; input: Record<string, InputAnswer>; writes: Write[] } | undefined> => {
  const { items } = await work.table.query(InputRequestEntity, { run_id: run.id }, { limit: MOST, ascending: true })
  const unsent = items
    .filter(({ status, resumed_at }) => status === 'answered' && resumed_at === undefined)
    .slice(-LIMITS.pendingInputs)
  const last = unsent.at(-1)
  if (!last) return undefined
  const resumed_at = work.clock.now()
  return {
    step_id: last.step_id,
    steps: unsent.map(({ step_id }) => step_id),
    input: await answersOf(work, unsent),
    writes: unsent.map((asked) =>
      InputRequestEntity.update(asked, { set: { resumed_at } }, { where: { resumed_at: missing } }),
    ),
  }
}

const answersOf = async (
  deps: Pick<Deps, 'objects'>,
  asked: readonly InputRequest[],
): Promise<Record<string, InputAnswer>> => {
  const answers = await Promise.all(
    asked.map(async ({ answers: stored }) => (stored ? ((await loadPayload(deps, stored)) as Answers).responses : {})),
  )
  return Object.assign({}, ...answers)
}

/** Loads the answers to these steps' questions by key, to send them another time. */
export const loadAnswers = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  run_id: string,
  steps: readonly string[],
): Promise<Record<string, InputAnswer>> => {
  const found = await deps.table.getAll(steps.map((step_id) => InputRequestEntity.ref({ run_id, step_id })))
  return answersOf(
    deps,
    found.filter((asked) => asked !== undefined),
  )
}

/** Lists a workspace's unanswered questions, newest first, as one of its members sees them. */
export const listPendingInputs = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  viewerId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<InputRequest>> => {
  const page = await table.listed(InputRequestEntity, pendingInputsOf(workspaceId), options)
  return {
    ...page,
    items: page.items.filter((asked) => isVisibleTo(viewerId, asked) && asked.status === 'pending'),
  }
}

/** Loads the unanswered questions of a step by key: none once all are answered, undefined once the run ended without. */
export const loadOpenQuestions = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  key: Pick<InputRequest, 'run_id' | 'step_id'>,
): Promise<InputQuestions | undefined> => {
  const asked = await deps.table.get(InputRequestEntity, key)
  if (!asked || asked.status === 'voided') return undefined
  if (asked.status === 'answered') return {}
  const stored = await loadPayload(deps, asked.asked)
  const { input_requests } = (stored ?? { input_requests: {} }) as Asked
  return Object.fromEntries(Object.entries(input_requests).filter(([name]) => !asked.answered.includes(name)))
}

/** Loads the steps that a run waits for, oldest first, with the text of their questions. */
export const listWaitingSteps = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  run: Pick<Run, 'id' | 'input_steps'>,
): Promise<{ step_id: string; created_at: number; text: string }[]> =>
  Promise.all(
    (await loadPendingInputs(deps, run)).map(async ({ step_id, created_at, asked }) => {
      const stored = (await loadPayload(deps, asked)) as Asked | undefined
      return { step_id, created_at, text: textOfAll(stored?.input_requests ?? {}) }
    }),
  )

/** Presents unanswered questions to a member. */
export const presentPendingInput = async (work: Pick<Deps, 'table' | 'objects'>, asked: InputRequest) => {
  const { workspace_id, installation_id, run_id, step_id, answered, created_at } = asked
  const [stored, installation] = await Promise.all([
    loadPayload(work, asked.asked),
    work.table.get(InstallationEntity, { workspace_id, id: installation_id }),
  ])
  return {
    step_id,
    run_id,
    installation_id,
    agent: { id: installation?.app_slug ?? 'agent', name: installation?.app_name ?? 'Agent' },
    input_requests: Object.fromEntries(
      Object.entries(((stored ?? { input_requests: {} }) as Asked).input_requests).map(([name, question]) => [
        name,
        formOf(question) ?? question,
      ]),
    ),
    answered,
    created_at: iso(created_at),
    expires_at: iso(asked.due_at ?? created_at + DAY),
  }
}

/** Fails a run whose questions weren't answered in time. */
export const failUnanswered = (work: Work, { installation_id, run_id: id, step_id }: InputRequest): Promise<void> =>
  finishIf(work, { installation_id, id }, ({ input_steps = [] }) => input_steps.includes(step_id), {
    status: 'failed',
    error_code: 'input_timeout',
    error_message: 'Nobody answered the agent’s question in time.',
  })
