import { emitEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import { type Deps, type Work, type WorkerWork, withoutAnswer } from '#shared/foundation/work/index.ts'
import { A2aError } from '#shared/kernel/a2a-error.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { fail } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { exists, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Run, RunEntity } from '#shared/work/runs/index.ts'
import type { A2aClient, A2aScene } from './client.ts'
import { type A2aPush, A2aPushEntity } from './entity.ts'
import type { A2A_EVENTS } from './events.ts'

/** Most configurations of a task. */
const MOST_PUSHES = 5

/** Configuration as a caller gives it. */
export interface PushConfig {
  id?: string | undefined
  url: string
  token?: string | undefined
  authentication?: { scheme: string; credentials?: string | undefined } | undefined
}

/** Configuration as callers read it: its credentials are never shown. */
export interface PushConfigView {
  id: string
  taskId: string
  url: string
  authentication?: { scheme: string }
}

/** Refuses an address that the platform sends nothing to. @throws `blocked_target` */
export const checkPushAddress = ({ http }: Pick<Deps, 'http'>, url: string): void => {
  const reason = http.checkAddress(url)
  if (reason !== undefined) {
    throw fail('blocked_target', {
      message: `url is forbidden. ${reason}`,
      details: { reason, fields: { url: [reason] } },
    })
  }
}

/** Name that secrets are sealed for: they belong to their address. */
const recordOf = (url: string): string => `a2a-push:${url}`

const ownerOf = (client: A2aClient) => {
  if (client.kind === 'agent') {
    const { installation, workspace } = client
    return { workspace, caller: { installation_id: installation.id, app_id: installation.app_id } }
  }
  const { workspace, grant } = client.principal
  return { workspace, grant: { id: grant.id, user_id: grant.user_id } }
}

/** Returns the fields of a configuration that a caller chose, with its secrets sealed. */
export const sealPush = async (
  { keys }: Pick<Deps, 'keys'>,
  { client }: A2aScene,
  version: A2aPush['version'],
  { id, url, token, authentication }: PushConfig,
) => {
  const { workspace, ...caller } = ownerOf(client)
  const workspace_id = workspace.id
  const sealed = (secret: string | undefined) =>
    secret === undefined || secret === '' ? undefined : seal(keys.ofWorkspace(workspace_id), recordOf(url), secret)
  return {
    id,
    workspace_id,
    ...caller,
    version,
    url,
    token: await sealed(token),
    scheme: authentication?.scheme,
    credentials: await sealed(authentication?.credentials),
  }
}

export type SealedPush = Awaited<ReturnType<typeof sealPush>>

/** Decrypts the secrets of a configuration. */
export const openPush = async (
  { keys }: Pick<Deps, 'keys'>,
  { workspace_id, url, token, credentials }: A2aPush,
): Promise<{ token?: string; credentials?: string }> => {
  const key = keys.ofWorkspace(workspace_id)
  return {
    ...(token !== undefined && { token: await unseal(key, recordOf(url), token) }),
    ...(credentials !== undefined && { credentials: await unseal(key, recordOf(url), credentials) }),
  }
}

/** Builds the record of a configuration. @param sent id of the event after which it begins; '' for all events */
export const newPush = (
  { clock }: Pick<Deps, 'clock'>,
  run: Pick<Run, 'id' | 'installation_id'>,
  sealed: SealedPush,
  slot: number,
  sent: string,
): A2aPush => {
  const now = clock.now()
  return {
    ...sealed,
    id: sealed.id ?? newId('pushConfig', now),
    run_id: run.id,
    slot,
    installation_id: run.installation_id,
    sent,
    attempt: 0,
    failures: 0,
    next_at: now,
    pause: 0,
    turn: 0,
    set_at: now,
    due_at: now + OVERDUE_GRACE,
  }
}

/** Loads the configurations of a task. */
export const loadPushes = async ({ table }: Pick<Deps, 'table'>, run_id: string): Promise<A2aPush[]> =>
  (await table.query(A2aPushEntity, { run_id }, { limit: MOST_PUSHES })).items.sort((a, b) => a.slot - b.slot)

/** Wakes a worker for each of a task's configurations. */
export const wakePushes = async (work: Pick<WorkerWork, 'table' | 'queues'>, run_id: string): Promise<void> => {
  const waiting = (await loadPushes(work, run_id)).filter(({ next_at }) => next_at !== undefined)
  if (waiting.length > 0)
    await work.queues.send(
      'delivery',
      waiting.map((push) => pushMessage(push)),
    )
}

/** Builds the message that wakes a worker. Its group makes slow receivers wait only behind themselves. */
export const pushMessage = ({ run_id, slot }: A2aPush, at?: number, delayMs = 0) => ({
  body: { kind: 'push', run_id, slot, ...(at !== undefined && { at }) },
  delayMs,
  group: `${run_id}.${slot}`,
})

/**
 * Creates a configuration of a task, or replaces the one with its id. It begins with what happens next: of a task that has
 * ended, nothing.
 * @throws `blocked_target`; {@link A2aError} `INVALID_PARAMS` if the task has five others
 */
export const createPush = async (
  work: Work,
  scene: A2aScene,
  run: Run,
  version: A2aPush['version'],
  config: PushConfig,
): Promise<PushConfigView> => {
  checkPushAddress(work, config.url)
  const sealed = await sealPush(work, scene, version, config)
  const push = await retryOnConflict(async () => {
    const known = await loadPushes(work, run.id)
    const same = known.find(({ id }) => id === config.id)
    const free = [...Array(MOST_PUSHES).keys()].find((i) => known.every(({ slot }) => slot !== i + 1))
    const slot = same?.slot ?? (free === undefined ? undefined : free + 1)
    if (slot === undefined) {
      const fields = { url: [`is one too many: a task has at most ${MOST_PUSHES} configurations`] }
      throw new A2aError('INVALID_PARAMS', { fields, fix: 'Delete another configuration first.' })
    }
    const made = newPush(work, run, sealed, slot, String(run.stream_seq))
    await withoutAnswer(work).commit([
      A2aPushEntity.replace(made, { where: same ? { id: same.id, turn: same.turn } : { id: missing } }),
      RunEntity.update(run, { set: { pushes: true } }, { where: { id: exists } }),
      emitEvent<keyof typeof A2A_EVENTS>(work.clock, {
        type: 'a2a.push_configured',
        workspace_id: run.workspace_id,
        pushes: true,
        data: { run_id: run.id },
      }),
    ])
    return made
  })
  return presentPush(push)
}

export const presentPush = ({ id, run_id, url, scheme }: A2aPush): PushConfigView => ({
  id,
  taskId: run_id,
  url,
  ...(scheme !== undefined && { authentication: { scheme } }),
})

/** Finds a configuration of a task by its id. @throws {A2aError} `TASK_NOT_FOUND`, as the protocol has no code for it */
export const findPush = async (work: Pick<Deps, 'table'>, run: Run, id: string | undefined): Promise<A2aPush> => {
  const all = await loadPushes(work, run.id)
  // Version 0.3 may leave the id out if there is one.
  const found = id === undefined && all.length === 1 ? all[0] : all.find((push) => push.id === id)
  if (!found) throw new A2aError('TASK_NOT_FOUND', { message: 'The task has no such push notification configuration.' })
  return found
}

/** Deletes a configuration, if it exists. Nothing is sent any more. */
export const deletePush = async (work: Work, run: Run, id: string): Promise<void> => {
  const found = (await loadPushes(work, run.id)).find((push) => push.id === id)
  if (found) await withoutAnswer(work).commit([A2aPushEntity.delete(found)])
}
