import { type Installation, type InstallPlan, withInstallation } from '#shared/access/installations/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { FolderEntity, storeFile } from '#shared/work/files/index.ts'
import { SeedEntity } from '../entity.ts'
import type { SeededView } from '../schemas.ts'
import { FILES, FOLDERS } from './contents.ts'
import { findListedApp, listSandboxAgents, prepareSeedInstall } from './marketplace.ts'
import { seedRecords } from './records.ts'
import { removeSeeded } from './remove.ts'

/**
 * `POST /api/v1/dev/sandbox/seed`: removes the previous seed, then fills the sandbox workspace in one transaction,
 * which includes the list of created records. A worker that dies leaves either everything or nothing. Unused file
 * contents that it stored are found by their marker (domain/files). If no agent works in the sandbox yet, a listed one
 * is installed.
 * @throws `marketplace_empty`, `forbidden` when the file quota is used up, `conflict` when another seed came first
 */
export const seedSandbox = async (work: Work, developerId: string): Promise<SeededView> => {
  // Taken first, so that ids derived from it are the same when the request is repeated.
  const seedId = work.id('audit')
  const [developer, app] = await Promise.all([loadDeveloper(work, developerId), findListedApp(work)])
  const workspaceId = developer.sandbox_workspace_id
  await removeSeeded(withoutAnswer(work), workspaceId)
  const files = await seedFiles(work, seedId, workspaceId)
  const agents = await listSandboxAgents(work, workspaceId)

  const fill = async (workers: [Installation, ...Installation[]], plan?: InstallPlan): Promise<SeededView> => {
    const owner = { id: developer.id, name: developer.name }
    const records = await seedRecords(work, { seedId, workspaceId, owner, agents: workers })
    const { made } = records
    const seed = {
      workspace_id: workspaceId,
      ...stampOf(seedId),
      ...made,
      file_ids: files.file_ids,
      folder_ids: files.folder_ids,
      ...(plan?.created && { installation_id: plan.installation.id }),
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
  return withInstallation(work, await prepareSeedInstall(work, developer, app), (plan) =>
    fill([plan.installation], plan),
  )
}

/** Folders and files. The contents are stored before this returns; the records are created by the returned writes. */
const seedFiles = async (work: Work, seedId: string, workspace_id: string) => {
  const folders = FOLDERS.map((name) => ({ ...stampOf(work.id('folder')), workspace_id, name }))
  const owner = {
    workspace_id,
    is_sandbox: true,
    created_by: { type: 'system' as const, id: seedId, name: 'Sandbox seed' },
  }
  const writes: Write[] = folders.map((folder) => FolderEntity.create(folder))
  const file_ids: string[] = []
  for (const { folder, content, ...fields } of FILES) {
    const folder_id = folders.find(({ name }) => name === folder)?.id
    const stored = await storeFile(withoutAnswer(work), owner, { ...fields, folder_id }, Buffer.from(content), [])
    file_ids.push(stored.file.id)
    writes.push(...stored.writes)
  }
  return { folder_ids: folders.map(({ id }) => id), file_ids, writes }
}

const seededMeanwhile = () =>
  fail('conflict', {
    message: 'Another request is seeding the sandbox.',
    fix: 'Use the records of the other request, or seed again with a new Idempotency-Key.',
  })
