import { FolderEntity } from '../../../entities/files.ts'
import type { Installation } from '../../../entities/installations.ts'
import { SeedEntity } from '../../../entities/sandbox.ts'
import { fail } from '../../../kernel/errors.ts'
import type { Write } from '../../../table/entity.ts'
import { aside, type Work } from '../../deps.ts'
import { loadDeveloper } from '../../developers/read.ts'
import { storeFile } from '../../files/create.ts'
import { type InstallPlan, withInstallation } from '../../installations/install.ts'
import type { SeededView } from '../schemas.ts'
import { FILES, FOLDERS } from './contents.ts'
import { agentsOf, listedApp, seedInstall } from './marketplace.ts'
import { seedRecords } from './records.ts'
import { removeSeeded } from './remove.ts'

/**
 * `POST /api/v1/dev/sandbox/seed`: removes what an earlier seed made, then fills the sandbox workspace in one transaction,
 * the list of what it made included. So a worker that dies leaves all of it or none; a file's content that was stored
 * before is found by its mark (domain/files). Where no agent works in the sandbox yet, a listed one is installed.
 * @throws `marketplace_empty`, `forbidden` when the files' quota is used up, `conflict` when another seed came first
 */
export const seedSandbox = async (work: Work, developerId: string): Promise<SeededView> => {
  // Taken first, so that what derives from it is the same when the request is repeated.
  const seedId = work.id('audit')
  const [developer, app] = await Promise.all([loadDeveloper(work, developerId), listedApp(work)])
  const workspaceId = developer.sandbox_workspace_id
  await removeSeeded(aside(work), workspaceId)
  const files = await seedFiles(work, seedId, workspaceId)
  const agents = await agentsOf(work, workspaceId)

  const fill = async (workers: [Installation, ...Installation[]], plan?: InstallPlan): Promise<SeededView> => {
    const owner = { id: developer.id, name: developer.name }
    const records = await seedRecords(work, { seedId, workspaceId, owner, agents: workers })
    const { made } = records
    const seed = {
      workspace_id: workspaceId,
      id: seedId,
      ...made,
      file_ids: files.file_ids,
      folder_ids: files.folder_ids,
      ...(plan?.created && { installation_id: plan.installation.id }),
      created_at: work.clock.now(),
    }
    const view: SeededView = {
      workspace_id: workspaceId,
      tasks: made.task_ids.length,
      runs: made.runs.length,
      files: files.file_ids.length,
      folders: files.folder_ids.length,
      notifications: made.notification_ids.length,
      conversations: made.conversation_ids.length,
      messages: records.messages,
      installations: plan?.created ? 1 : 0,
    }
    const writes = [...(plan?.writes ?? []), ...files.writes, ...records.writes]
    await work.commit([SeedEntity.create(seed, { otherwise: seededMeanwhile }), ...writes], view)
    return view
  }

  const [first, ...others] = agents
  if (first) return fill([first, ...others])
  return withInstallation(work, await seedInstall(work, developer, app), (plan) => fill([plan.installation], plan))
}

/** Folders and files. Their contents are stored when this returns; the records come with the writes. */
const seedFiles = async (work: Work, seedId: string, workspace_id: string) => {
  const now = work.clock.now()
  const folders = FOLDERS.map((name) => ({ id: work.id('folder'), workspace_id, name, created_at: now }))
  const owner = { workspace_id, created_by: { type: 'system' as const, id: seedId, name: 'Sandbox seed' } }
  const writes: Write[] = folders.map((folder) => FolderEntity.create(folder))
  const file_ids: string[] = []
  for (const { folder, content, ...fields } of FILES) {
    const folder_id = folders.find(({ name }) => name === folder)?.id
    const stored = await storeFile(aside(work), owner, { ...fields, folder_id }, Buffer.from(content), [])
    file_ids.push(stored.file.id)
    writes.push(...stored.writes)
  }
  return { folder_ids: folders.map(({ id }) => id), file_ids, writes }
}

const seededMeanwhile = () =>
  fail('conflict', {
    message: 'The sandbox is being seeded by another request.',
    fix: 'Use what the other request made, or seed again with a new Idempotency-Key.',
  })
