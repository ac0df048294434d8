import { ConversationEntity, MessageEntity } from '../../../entities/conversations.ts'
import { FileEntity, type FileRecord, FolderEntity, filesIn, type LooseObject } from '../../../entities/files.ts'
import { GrantEntity, InstallationEntity } from '../../../entities/installations.ts'
import { NotificationEntity } from '../../../entities/notifications.ts'
import { RunEntity, StepEntity, WorkspaceRunEntity } from '../../../entities/runs.ts'
import { type Seed, SeedEntity } from '../../../entities/sandbox.ts'
import { AssignedTaskEntity, type Task, TaskEntity, TaskRunEntity } from '../../../entities/tasks.ts'
import { tell } from '../../../events/outbox.ts'
import type { Write } from '../../../table/entity.ts'
import { exists, oneOf } from '../../../table/expressions.ts'
import type { Work } from '../../deps.ts'
import { loadDeveloper } from '../../developers/read.ts'
import { removeLoose } from '../../files/loose.ts'
import { releasing } from '../../files/remove.ts'
import { releaseResult } from '../../tasks/result.ts'
import { tryAgain } from '../../try-again.ts'

/** `DELETE /api/v1/dev/sandbox/seed`. Nothing seeded is fine too. */
export const unseedSandbox = async (work: Work, developerId: string): Promise<void> =>
  removeSeeded(work, (await loadDeveloper(work, developerId)).sandbox_workspace_id)

/**
 * Removes what the seed made and nothing else, as it is by now: a task whoever has it, a file unless somebody deleted it. A
 * folder that got other files stays, and so does an installation that was used. All of it goes in one transaction with the
 * list that it is found by; only the messages go before, so that the list outlives them.
 */
export const removeSeeded = (work: Work, workspaceId: string): Promise<void> =>
  tryAgain(async () => {
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

/** Everything said in a conversation that goes, by whomever. */
const removeMessages = async (work: Work, conversation_id: string): Promise<void> => {
  for (;;) {
    const { items } = await work.table.query(MessageEntity, { conversation_id }, { limit: PER_TRANSACTION })
    if (items.length === 0) return
    await work.commit(items.map((message) => MessageEntity.delete(message)))
  }
}

const taskWrites = async (work: Work, { workspace_id, task_ids }: Seed): Promise<Write[]> => {
  const tasks = (await work.table.getAll(
    task_ids.map((id) => ({ entity: TaskEntity, key: TaskEntity.key({ workspace_id, id }) })),
  )) as (Task | undefined)[]
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
  const found = (await work.table.getAll(
    file_ids.map((id) => ({ entity: FileEntity, key: FileEntity.key({ workspace_id, id }) })),
  )) as (FileRecord | undefined)[]
  const released = found.flatMap((file) => (file ? [releasing(work, file, { where: { id: exists } })] : []))
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

/** The installation is used when a token was taken for it, or when anything else than the seed ran in it. */
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
    tell(work.clock, {
      type: 'installation.removed',
      workspace_id,
      app_id,
      data: { installation_id, app_id, status: 'revoked', scopes },
    }),
  ]
}

/** At once rather than at the next sweep: the quota is given back with it. */
const removeContent = async (work: Work, loose: LooseObject): Promise<void> => {
  try {
    await removeLoose(work, loose)
  } catch (error) {
    work.log.warn('a seeded file’s object is left to the sweep', { file_id: loose.file_id, error })
  }
}
