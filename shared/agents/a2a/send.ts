import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { A2aError } from '#shared/kernel/a2a-error.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import { isObject } from '#shared/kernel/json-schema/json-object.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { answerInput, loadPendingQuestions, type Responder } from '#shared/work/questions/index.ts'
import {
  changeRun,
  type InputQuestions,
  isActive,
  isWaitingForInput,
  loadRun,
  type Run,
  runWrite,
} from '#shared/work/runs/index.ts'
import { type AskAgent, type Asked, cancelAsked, followAsked, startAsked, startAskedByPerson } from '../calls/index.ts'
import { viaOf } from '../person-tools/index.ts'
import { bannedTools, bansRef, toolBanOf } from '../tools/index.ts'
import type { OpenRequest, PrepareInPlace } from '../waiting/index.ts'
import { type A2aClient, type A2aScene, hashOfCaller, scopedHash } from './client.ts'
import { A2aMessageEntity, type A2aPush, A2aPushEntity, A2aTaskEntity } from './entity.ts'
import { askedBy, type Message, textOf } from './message.ts'
import { contextOf } from './present.ts'
import { checkPushAddress, createPush, newPush, type PushConfig, sealPush } from './push-configs.ts'
import { findTask } from './tasks.ts'

type Json = Record<string, unknown>

export interface Sending {
  message: Message
  /** The caller may learn of the end later, so the task has a clock of its own. */
  detached: boolean
  audience: 'member' | 'external' | undefined
  /** Address that receives the task's changes. */
  push?: { version: A2aPush['version']; config: PushConfig } | undefined
  /** The request waits for a new task's run, and sends it to its agent itself. */
  inPlace?: PrepareInPlace | undefined
}

/** Number of a context's latest runs that an agent gets. */
const CONTEXT_RUNS = 20

/** Thrown out of the transaction that starts a run if the message was taken before. */
class AlreadyTaken extends Error {
  readonly taken: Taken
  constructor(taken: Taken) {
    super('the message was taken before')
    this.taken = taken
  }
}

type Taken = { body_hash: string; run_id: string }

/**
 * Takes a message: starts a task, or answers the question of one. A message that is sent again gets the same task, without
 * any further effect (contract/a2a.md#idempotency).
 * @returns the task's run, whether this message started it, and its request if this call sent it
 * @throws {A2aError} `TASK_NOT_FOUND`, `UNSUPPORTED_OPERATION`, `CONTENT_TYPE_NOT_SUPPORTED`, `INVALID_PARAMS`,
 *   `IDEMPOTENCY_KEY_REUSED`; the refusals of `ask_agent`
 */
export const takeMessage = async (
  work: Work,
  scene: A2aScene,
  sending: Sending,
): Promise<{ run: Run; isFirst: boolean; open?: OpenRequest | undefined }> => {
  const { message } = sending
  const message_hash = scopedHash(scene, 'message', message.messageId)
  const body_hash = sha256(canonicalJson([message, sending.audience ?? null]))
  const [known, settings] = await work.table.getAll([A2aMessageEntity.ref({ message_hash }), bansRef] as const)
  // The store may take days to delete what has expired.
  const isKnown = known !== undefined && (A2aMessageEntity.expires?.(known, work.table) ?? 0) > work.clock.now()
  if (isKnown) return repeated(work, scene, known, body_hash)
  const taking = (run_id: string) => {
    const record = { message_hash, body_hash, run_id, created_at: work.clock.now() }
    const otherwise = (current: Taken | undefined) => new AlreadyTaken(current as Taken)
    return known
      ? A2aMessageEntity.replace(record, { where: { created_at: known.created_at }, otherwise })
      : A2aMessageEntity.create(record, { otherwise })
  }
  try {
    if (message.taskId === undefined) {
      refuseBanned(scene.client, bannedTools(settings))
      const { run, open } = await start(work, scene, sending, taking)
      return { run, isFirst: true, open }
    }
    const run = await answer(work, scene, message, message.taskId, taking)
    if (sending.push && isActive(run.status))
      await createPush(work, scene, run, sending.push.version, sending.push.config)
    return { run, isFirst: false }
  } catch (error) {
    if (error instanceof AlreadyTaken) return repeated(work, scene, error.taken, body_hash)
    throw error
  }
}

/** An agent's message that starts a task is a question to another agent, and under the same bans. @throws `tool_denied` */
const refuseBanned = (client: A2aClient, banned: readonly string[]): void => {
  const ban = client.kind === 'agent' ? toolBanOf('ask_agent', client, banned) : undefined
  if (ban) throw ban
}

const repeated = async (work: Work, scene: A2aScene, taken: Taken, body_hash: string) => {
  if (taken.body_hash !== body_hash) throw new A2aError('IDEMPOTENCY_KEY_REUSED')
  return { run: await findTask(work, scene, taken.run_id), isFirst: true }
}

type Taking = (run_id: string) => ReturnType<typeof A2aMessageEntity.create>

const start = async (
  work: Work,
  scene: A2aScene,
  { message, detached, audience, push, inPlace }: Sending,
  taking: Taking,
): Promise<Asked> => {
  const { client, agent } = scene
  if (push) checkPushAddress(work, push.config.url)
  const asked = askedBy(message, agent.manifest)
  const contextId = message.contextId ?? newId('a2aContext', work.clock.now())
  const context_hash = scopedHash(scene, 'context', contextId)
  const earlier =
    message.contextId === undefined
      ? []
      : (await work.table.listed(A2aTaskEntity, `A2A-CONTEXT#${context_hash}`, { limit: CONTEXT_RUNS })).items
  const sealed = push && (await sealPush(work, scene, push.version, push.config))
  const ask = {
    agent: agent.app.slug,
    found: { ...agent, tools: agent.manifest.tools ?? [] },
    tool: asked.tool,
    arguments: asked.arguments,
    audience,
    inPlace,
    following: {
      protocol: 'a2a',
      by: client.by,
      // A person's message may be answered before its run ends.
      detached: detached || client.kind === 'person',
      pushes: sealed && true,
      context: { id: contextId, run_ids: earlier.map(({ run_id }) => run_id) },
      ...(asked.tool !== undefined && { message }),
    },
    more: ({ id, installation_id, created_at }) => [
      taking(id),
      ...(sealed ? [A2aPushEntity.create(newPush(work, { id, installation_id }, sealed, 1, ''))] : []),
      A2aTaskEntity.create({
        installation_id,
        by_hash: hashOfCaller(client),
        run_id: id,
        context_hash,
        created_at,
      }),
    ],
  } satisfies AskAgent
  return client.kind === 'agent'
    ? startAsked(work, client, ask)
    : startAskedByPerson(work, client.principal, { ...ask, via: viaOf(client.principal.grant) })
}

const responderOf = (client: A2aClient): Responder =>
  client.kind === 'agent'
    ? { type: 'installation', id: client.installation.id }
    : { type: 'user', id: client.principal.person.id, via: viaOf(client.principal.grant) }

/** Answers the pending questions of a task: a data part with content by key, or text for a single key. */
const answer = async (work: Work, scene: A2aScene, message: Message, taskId: string, taking: Taking): Promise<Run> => {
  const run = await findTask(work, scene, taskId)
  if (message.contextId !== undefined && message.contextId !== contextOf(run)) {
    throw new A2aError('INVALID_PARAMS', { fields: { 'message.contextId': ['isn’t the context of the task'] } })
  }
  if (!isActive(run.status) || !isWaitingForInput(run)) {
    throw new A2aError('UNSUPPORTED_OPERATION', {
      message: 'The task waits for no answer.',
      fix: 'Send the message without taskId to start another task in the same context.',
    })
  }
  const pending = await loadPendingQuestions(work, run)
  const questions: InputQuestions = Object.assign({}, ...pending.map((step) => step.questions))
  const contents = contentsOf(message, questions)
  const responses = Object.fromEntries(
    Object.entries(contents).map(([key, content]) => [key, { action: 'accept' as const, content }]),
  )
  await answerInput(
    { ...work, commit: (writes) => work.commit([...writes, taking(run.id)]) },
    run,
    responderOf(scene.client),
    responses,
    { message },
  )
  return loadRun(work, run)
}

const contentsOf = (message: Message, questions: InputQuestions): Record<string, Json> => {
  const data = message.parts.find((part) => isObject(part.data))?.data as Json | undefined
  const keys = Object.keys(questions)
  const given = Object.fromEntries(
    Object.entries(data ?? {}).flatMap(([key, content]) =>
      keys.includes(key) && isObject(content) ? [[key, content] as const] : [],
    ),
  )
  if (Object.keys(given).length > 0) return given
  const [key, ...others] = keys
  const text = textOf(message)
  if (key !== undefined && others.length === 0 && text !== '') return { [key]: { [fieldFor(questions[key])]: text } }
  throw new A2aError('INVALID_PARAMS', {
    fields: { 'message.parts': [`must answer ${keys.join(', ')}: a data part {"key": {…}}, or text for a single key`] },
  })
}

/** Returns the field of a form that a text fills: its only one, or `text`. */
const fieldFor = (question: InputQuestions[string] | undefined): string => {
  const fields = question && 'message' in question ? Object.keys(question.schema?.properties ?? {}) : []
  return (fields.length === 1 && fields[0]) || 'text'
}

/** Longest wait for a person's message. Without streaming, the edge gives up earlier. */
const PERSON_WAIT = { streamed: 280 * SECOND, inOnePiece: LIMITS.agentWait }

/**
 * Waits until a task ends or is interrupted: by a question, or by a person's decision. Otherwise, the chain's deadline
 * cancels it, as does the end of the asking run (contract/agent-to-agent.md#asking-an-agent). A task with a clock of its own,
 * such as a person's, goes on.
 * @throws `run_already_finished` when the asking run ended
 */
export const waitForTask = async (work: Work, { client }: A2aScene, started: Run, open?: OpenRequest): Promise<Run> => {
  let last = started
  const isDetached = started.is_detached === true
  const longest =
    client.kind === 'agent'
      ? Math.min(LIMITS.agentWait, started.chain_deadline - work.clock.now())
      : PERSON_WAIT[work.settings.streaming ? 'streamed' : 'inOnePiece']
  const until = work.clock.now() + longest
  const left = () => until - work.clock.now()
  const asking = client.kind === 'agent' && !isDetached ? client.run : undefined
  for await (const run of followAsked(work, started, { asking, left, open })) {
    last = run
    if (!isActive(run.status) || isWaitingForInput(run)) return run
    if (run.status === 'awaiting_approval') return detach(work, run)
  }
  return isActive(last.status) && !isDetached ? cancelAsked(work, last) : last
}

/** Gives a task its own deadline, because nobody waits for it any more. It continues after the decision. */
const detach = (work: Work, waiting: Run): Promise<Run> =>
  changeRun(work, waiting, async (run) => {
    if (run.status !== 'awaiting_approval' || run.is_detached) return run
    await withoutAnswer(work).commit([runWrite(run, { is_detached: true })])
    return { ...run, is_detached: true }
  })
