import { GrantEntity } from '#shared/access/grants/index.ts'
import type { InstallationEventType } from '#shared/access/installations/index.ts'
import { InstallationEntity } from '#shared/access/installations/index.ts'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { NotificationEntity } from '#shared/identity/notifications/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { exists, oneOf } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { ConversationEntity, MessageEntity } from '#shared/work/conversations/index.ts'
import {
  FileEntity,
  type FileRecord,
  FolderEntity,
  filesIn,
  type LooseObject,
  releaseFileWrites,
  removeLoose,
} from '#shared/work/files/index.ts'
import { RunEntity, StepEntity, WorkspaceRunEntity } from '#shared/work/runs/index.ts'
import { AssignedTaskEntity, releaseResult, type Task, TaskEntity, TaskRunEntity } from '#shared/work/tasks/index.ts'
import { type Seed, SeedEntity } from '../entity.ts'

/** `DELETE /api/v1/dev/sandbox/seed`. Succeeds even if nothing was seeded. */
export const removeSandboxSeed = async (work: Work, developerId: string): Promise<void> =>
  removeSeeded(work, (await loadDeveloper(work, developerId)).sandbox_workspace_id)

/**
 * Removes only the records of the seed, in their current state: tasks with any assignee, files unless
 * already deleted. Folders that hold other files stay, and so does an installation that was used. Everything is removed
 * in one transaction together with the seed record. Only messages are removed earlier, so that the seed record outlives
 * them.
 */
export const removeSeeded = (work: Work, workspaceId: string): Promise<void> =>
  retryOnConflict(async () => {
    const seed = await work.table.get(SeedEntity, { workspace_id: workspaceId })
    if (!seed) return
    for (const id of seed.conversation_ids) await removeMessages(work, id)
    const [tasks, files, folders, installation] = await Promise.all([
      taskWrites(work, seed),
      fileWrites(work, seed),
      folderWrites(work, seed),
      installationWrites(work, seed),
    ])
    const at = { workspace_id: workspaceId }
    await work.commit([
      SeedEntity.delete(at, { where: { id: seed.id } }),
      ...tasks,
      ...seed.conversation_ids.map((id) => ConversationEntity.delete({ ...at, id })),
      ...seed.runs.flatMap(({ installation_id, run_id, steps }) => [
        RunEntity.delete({ installation_id, id: run_id }),
        WorkspaceRunEntity.delete({ ...at, run_id }),
        ...Array.from({ length: steps }, (_, i) => StepEntity.delete({ run_id, seq: i + 1 })),
      ]),
      ...seed.notification_ids.map((id) => NotificationEntity.delete({ ...at, id })),
      ...files.writes,
      ...folders,
      ...installation,
    ])
    for (const loose of files.loose) await removeContent(work, loose)
  })

const PER_TRANSACTION = 50

/** Deletes all messages of a conversation that is being removed. */
const removeMessages = async (work: Work, conversation_id: string): Promise<void> => {
  for (;;) {
    const { items } = await work.table.query(MessageEntity, { conversation_id }, { limit: PER_TRANSACTION })
    if (items.length === 0) return
    await work.commit(items.map((message) => MessageEntity.delete(message)))
  }
}

const taskWrites = async (work: Work, { workspace_id, task_ids }: Seed): Promise<Write[]> => {
  const tasks = (await work.table.getAll(task_ids.map((id) => TaskEntity.ref({ workspace_id, id })))) as (
    | Task
    | undefined
  )[]
  return tasks.flatMap((task) => {
    if (!task) return []
    const { id: task_id, assignee, revision } = task
    return [
      TaskEntity.delete(task, { where: { revision } }),
      ...releaseResult(work, task),
      TaskRunEntity.delete({ workspace_id, task_id }),
      ...(assignee ? [AssignedTaskEntity.delete({ installation_id: assignee.installation_id, task_id })] : []),
    ]
  })
}

const fileWrites = async (work: Work, { workspace_id, file_ids }: Seed) => {
  const found = (await work.table.getAll(file_ids.map((id) => FileEntity.ref({ workspace_id, id })))) as (
    | FileRecord
    | undefined
  )[]
  const released = found.flatMap((file) => (file ? [releaseFileWrites(work, file, { where: { id: exists } })] : []))
  return { loose: released.map(({ loose }) => loose), writes: released.flatMap(({ writes }) => writes) }
}

const folderWrites = async ({ table }: Work, { workspace_id, folder_ids, file_ids }: Seed): Promise<Write[]> => {
  const kept = await Promise.all(
    folder_ids.map(async (id) => {
      const { items } = await table.listed(FileEntity, filesIn(workspace_id, id), { limit: file_ids.length + 1 })
      return items.some((file) => !file_ids.includes(file.id))
    }),
  )
  return folder_ids.filter((_, i) => !kept[i]).map((id) => FolderEntity.delete({ workspace_id, id }))
}

/** An installation counts as used once a token was issued for it or a run other than the seed's ran in it. */
const installationWrites = async (work: Work, seed: Seed): Promise<Write[]> => {
  const { workspace_id, installation_id, runs } = seed
  if (installation_id === undefined) return []
  const [installation, grants, ran] = await Promise.all([
    work.table.get(InstallationEntity, { workspace_id, id: installation_id }),
    work.table.query(GrantEntity, { installation_id }, { limit: 1 }),
    work.table.query(RunEntity, { installation_id }, { limit: runs.length + 1 }),
  ])
  const own = new Set(runs.map(({ run_id }) => run_id))
  const used = grants.items.length > 0 || ran.items.some(({ id }) => !own.has(id))
  if (!installation || installation.status === 'revoked' || used) return []
  const { app_id, scopes } = installation
  const now = work.clock.now()
  return [
    InstallationEntity.update(
      installation,
      { set: { status: 'revoked', revoked_at: now, updated_at: now } },
      { where: { status: oneOf('active', 'suspended') } },
    ),
    emitEvent<InstallationEventType>(work.clock, {
      type: 'installation.removed',
      workspace_id,
      app_id,
      data: { installation_id, app_id, status: 'revoked', scopes },
    }),
  ]
}

/** Deletes the content immediately rather than at the next sweep, because this also frees quota. */
const removeContent = async (work: Work, loose: LooseObject): Promise<void> => {
  try {
    await removeLoose(work, loose)
  } catch (error) {
    work.log.warn('left a seeded file’s object to the sweeper', { file_id: loose.file_id, error })
  }
}
