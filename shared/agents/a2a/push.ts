import * as z from 'zod'
import { loadPrincipal } from '#shared/access/hosts/index.ts'
import { type Installation, InstallationEntity, isWorking } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { scopeRefusal, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { lazily } from '#shared/kernel/lazily.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingRequest, OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import type { Attributes } from '#shared/kernel/ports/traces.ts'
import { signSvc } from '#shared/kernel/signatures.ts'
import { sendTraced } from '#shared/kernel/tracing/send.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { isActive, type Run, RunEntity, STREAM_START } from '#shared/work/runs/index.ts'
import { sandboxRefusal } from '../egress/sandbox-budget.ts'
import { sendToApp } from '../outgoing/index.ts'
import { personRefusal } from '../person-tools/index.ts'
import { type A2aPush, A2aPushEntity } from './entity.ts'
import { taskTo } from './legacy.ts'
import { openPush, pushMessage } from './push-configs.ts'
import { hasSeenAll, positionAt, type TaskEvent, taskEvents } from './stream.ts'
import { presentTask } from './tasks.ts'

/** Message on the `delivery` queue that wakes a worker for the push notifications of a task. */
export const PushMessage = lazily(() =>
  z.object({
    kind: z.literal('push'),
    run_id: z.string(),
    slot: z.number(),
    /** The planned check that it is for. Absent if something has happened. */
    at: z.number().optional(),
  }),
)

type PushMessage = z.infer<ReturnType<typeof PushMessage>>

/** Duration of a worker's lease. Longer than its function's timeout. */
const LEASE = 30 * SECOND
/** A worker begins no further request after this time. The last one may take as long as a delivery. */
const SENDING = 10 * SECOND
/** Wait of a message that finds another worker at work. That worker may have read the task before the change. */
const TURN = 2 * SECOND
/** Events given up in a row after which a configuration is deleted. */
const MOST_FAILURES = 5
const FIRST_PAUSE = SECOND
/** Longest pause between two checks of a task that works. Its steps wake no worker, but a change of its state does. */
const LONGEST_PAUSE = 15 * SECOND
/** Pause while a task waits for a person. */
const WAITING_PAUSE = 15 * MINUTE

/**
 * Sends what has happened to a task since the last notification, in order (contract/a2a.md#push-notifications). Has no
 * effect if woken twice or for a planned check that another worker made.
 */
export const sendPushes = async (work: WorkerWork, { run_id, slot, at }: PushMessage): Promise<void> => {
  const push = await work.table.get(A2aPushEntity, { run_id, slot })
  if (push?.next_at === undefined) return
  const now = work.clock.now()
  if (at !== undefined && at !== push.next_at) return
  if ((push.leased_until ?? 0) > now) {
    if (at === undefined) await work.queues.send('delivery', [pushMessage(push, undefined, TURN)])
    return
  }
  const early = push.next_at - now
  if (early > 0 && (at !== undefined || push.attempt > 0)) {
    // A receiver that failed gets its time, whatever else happens.
    if (at !== undefined) await work.queues.send('delivery', [pushMessage(push, at, early)])
    return
  }
  const scene = await load(work, push)
  if (!scene) return remove(work, push)
  const leased = await change(work, push, { leased_until: now + LEASE, due_at: now + LEASE + OVERDUE_GRACE })
  if (leased) await sendAll(work, leased, scene)
}

/** Receiver of a task's notifications: the app of an installation, or a person's client. */
type Receiver = { installation: Installation } | { workspace: Workspace }

interface PushScene {
  run: Run
  receiver: Receiver
}

/** Loads the task and its caller. Undefined if the caller may no longer read the task. */
const load = async (work: WorkerWork, push: A2aPush): Promise<PushScene | undefined> => {
  const { caller, grant } = push
  if (caller) return loadForApp(work, push, caller)
  return grant && loadForPerson(work, push, grant)
}

const loadForPerson = async (
  work: WorkerWork,
  { workspace_id, installation_id, run_id }: A2aPush,
  { id, user_id }: NonNullable<A2aPush['grant']>,
): Promise<PushScene | undefined> => {
  const [run, principal] = await Promise.all([
    work.table.get(RunEntity, { installation_id, id: run_id }),
    loadPrincipal(work, { grt: id, ws: workspace_id, usr: user_id }).catch((error) => {
      if (error instanceof PlatformError && error.status < 500) return undefined
      throw error
    }),
  ])
  if (!run || !principal || personRefusal(principal, 'runs:read', 'This notification')) return undefined
  return { run, receiver: { workspace: principal.workspace } }
}

const loadForApp = async (
  work: WorkerWork,
  push: A2aPush,
  caller: NonNullable<A2aPush['caller']>,
): Promise<PushScene | undefined> => {
  const { workspace_id } = push
  const [run, installation, app, workspace] = await work.table.getAll([
    RunEntity.ref({ installation_id: push.installation_id, id: push.run_id }),
    InstallationEntity.ref({ workspace_id, id: caller.installation_id }),
    AppEntity.ref({ id: caller.app_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  if (!run || !installation || !isWorking(installation) || workspace?.status !== 'active') return undefined
  if (!app || app.status === 'suspended') return undefined
  if (scopeRefusal('runs:read', { scopes: installation.scopes, workspace }, 'This notification')) return undefined
  return { run, receiver: { installation } }
}

/** Writes a change, if no other worker made one. @returns the changed record */
const change = async (
  work: WorkerWork,
  push: A2aPush,
  fields: { [K in keyof A2aPush]?: A2aPush[K] | undefined },
): Promise<A2aPush | undefined> => {
  const set = { ...fields, turn: push.turn + 1 }
  const done = await ifUnchanged(
    work.commit([A2aPushEntity.update(push, { set }, { where: { turn: push.turn, id: push.id } })]),
  )
  return done ? ({ ...push, ...set } as A2aPush) : undefined
}

const remove = async (work: WorkerWork, push: A2aPush): Promise<void> => {
  await ifUnchanged(work.commit([A2aPushEntity.delete(push, { where: { turn: push.turn, id: push.id } })]))
}

const sendAll = async (work: WorkerWork, leased: A2aPush, { run, receiver }: PushScene): Promise<void> => {
  const until = work.clock.now() + SENDING
  const position = leased.sent === '' ? { after: STREAM_START, seen: 0 } : positionAt(leased.sent)
  const stop = new AbortController()
  let push: A2aPush | undefined = leased
  let hasNews = false
  for await (const event of taskEvents(work, run, position, stop.signal)) {
    if (!event) break
    // A draft isn't worth a request.
    if (event.isDraft) continue
    hasNews = true
    push = await sendOne(work, push, run, receiver, event)
    // Sends the state as of the read. The next check finds later changes.
    if (!push || push.attempt > 0 || Number(push.sent) === run.stream_seq || work.clock.now() > until) break
  }
  stop.abort()
  // Failed, deleted in the meantime, or taken over.
  if (!push || push.attempt > 0) return
  await plan(work, push, hasNews)
}

/** Plans the next check of the task, or none once its end is sent. */
const plan = async (work: WorkerWork, push: A2aPush, hasNews: boolean): Promise<void> => {
  const run = await work.table.get(RunEntity, { installation_id: push.installation_id, id: push.run_id })
  const seen = positionAt(push.sent)
  if (!run || (!isActive(run.status) && seen && hasSeenAll(run, seen))) {
    await change(work, push, { next_at: undefined, due_at: undefined, leased_until: undefined })
    return
  }
  const isWorkingRun = run.status === 'queued' || run.status === 'running'
  const longest = isWorkingRun ? LONGEST_PAUSE : WAITING_PAUSE
  const pause = hasNews
    ? FIRST_PAUSE
    : isWorkingRun
      ? Math.min(longest, Math.max(FIRST_PAUSE, push.pause * 2))
      : longest
  await planned(work, push, pause, { pause })
}

const planned = async (
  work: WorkerWork,
  push: A2aPush,
  delay: number,
  fields: Partial<A2aPush>,
): Promise<A2aPush | undefined> => {
  const next_at = work.clock.now() + delay
  const due_at = next_at + OVERDUE_GRACE
  const next = await change(work, push, { ...fields, next_at, due_at, leased_until: undefined })
  if (next) await work.queues.send('delivery', [pushMessage(next, next_at, delay)])
  return next
}

/**
 * Makes one attempt to send an event, and records its outcome. After the last attempt, the event is given up.
 * @returns the record; undefined if the configuration was deleted or another worker has taken it
 */
const sendOne = async (
  work: WorkerWork,
  push: A2aPush,
  run: Run,
  receiver: Receiver,
  event: TaskEvent,
): Promise<A2aPush | undefined> => {
  const body = JSON.stringify(await bodyOf(work, push, run, event))
  const { token, credentials } = await openPush(work, push)
  const seconds = Math.floor(work.clock.now() / SECOND)
  const attempt = push.attempt + 1
  const request: OutgoingRequest = {
    method: 'POST',
    url: push.url,
    headers: {
      'Content-Type': push.version === '1.0' ? 'application/a2a+json' : 'application/json',
      'User-Agent': 'AgentPlatform/1.0 (+a2a)',
      'X-SVC-Delivery': `${push.id}.${event.id}`,
      'X-SVC-Attempt': String(attempt),
      ...(push.scheme && credentials && { Authorization: `${push.scheme} ${credentials}` }),
      ...(token && { 'X-A2A-Notification-Token': token, 'X-SVC-Signature': signSvc([token], seconds, body) }),
    },
    body,
    deadlineMs: LIMITS.deliveryDeadline,
    maxResponseBytes: LIMITS.deliveryAnswerBytes,
    // Receivers know events by X-SVC-Delivery, so a kept-alive connection may be used.
    repeatable: true,
  }
  const result =
    'installation' in receiver
      ? await sendToApp(work, receiver.installation, request, {
          kind: 'webhook',
          event: EVENT,
          id: push.run_id,
          attempt,
        })
      : await sendToPerson(work, receiver.workspace, request, {
          'platform.run_id': push.run_id,
          'platform.attempt': attempt,
        })
  if (result.status !== undefined && result.status >= 200 && result.status < 300) {
    return change(work, push, { sent: event.id, attempt: 0, failures: 0 })
  }
  const delays = work.settings.webhookRetryDelaysSeconds
  if (attempt < delays.length) return planned(work, push, Number(delays[attempt - 1]) * SECOND, { attempt })
  if (push.failures + 1 < MOST_FAILURES) {
    return change(work, push, { sent: event.id, attempt: 0, failures: push.failures + 1 })
  }
  await remove(work, push)
  return undefined
}

const EVENT = 'a2a.push'

/** Sends to a person's client, within the budgets of sandboxes, as `sendToApp` does. No developer listens for a person. */
const sendToPerson = (
  work: WorkerWork,
  { is_sandbox, id: workspace_id }: Workspace,
  request: OutgoingRequest,
  attributes: Attributes,
): Promise<OutgoingResult> => {
  const send = async (traced: OutgoingRequest): Promise<OutgoingResult> =>
    (await sandboxRefusal(work, { is_sandbox, workspace_id }, traced.url)) ?? work.http.send(traced)
  return sendTraced(send, request, { name: `webhook ${EVENT}`, attributes })
}

/** Version 1.0 gets each event, version 0.3 the current task. */
const bodyOf = async (work: WorkerWork, push: A2aPush, run: Run, { data }: TaskEvent): Promise<object> => {
  if (push.version === '1.0') return data
  const now = (await work.table.get(RunEntity, { installation_id: run.installation_id, id: run.id })) ?? run
  return taskTo('kind', (await presentTask(work, now)) as unknown as Record<string, unknown>)
}

/** Wakes a worker again for overdue notifications. */
export const handleOverduePush = async (work: WorkerWork, key: Key): Promise<void> => {
  const push = await work.table.getByKey(A2aPushEntity, key)
  const now = work.clock.now()
  if (push?.due_at === undefined || push.due_at > now) return
  await work.queues.send('delivery', [pushMessage(push)])
  await ifUnchanged(
    work.commit([
      A2aPushEntity.update(push, { set: { due_at: now + OVERDUE_GRACE } }, { where: { due_at: push.due_at } }),
    ]),
  )
}
