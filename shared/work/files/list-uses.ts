import { isVisibleTo, type Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { type FileRecord, type FileUse, FileUseEntity } from './entity.ts'
import { loadFile } from './read.ts'
import type { FileUseView } from './schemas.ts'

/** Users that are read for one file, and those that are shown. */
const READ_USERS = 500
const SHOWN_USERS = 100

/**
 * Lists who created, read or changed a file within the last 90 days, the latest first. Runs that are private to somebody else
 * are left out.
 * @throws `not_found`
 */
export const listFileUses = async (
  deps: Pick<Work, 'table'>,
  workspace_id: string,
  viewer: string,
  id: string,
): Promise<FileUseView[]> => {
  const file = await loadFile(deps, workspace_id, id)
  const prefix = FileUseEntity.key({ workspace_id, file_id: id, actor_id: '-' }).sk.slice(0, -1)
  const { items } = await deps.table.query(
    FileUseEntity,
    { workspace_id },
    { limit: READ_USERS, from: prefix, to: `${prefix}~` },
  )
  const { created_by, created_at, created_in } = file
  const creator = items.find(({ actor_id }) => actor_id === created_by.id)
  const others = items.filter((use) => use !== creator)
  const made = { at: created_at, ...(created_in && { run: created_in }) }
  return [
    presentUse(viewer, created_by, creator, made),
    ...others.map((use) => presentUse(viewer, use.actor, use, undefined)),
  ]
    .sort((a, b) => Date.parse(latestOf(b)) - Date.parse(latestOf(a)))
    .slice(0, SHOWN_USERS)
}

const latestOf = ({ created_at, read_at, changed_at }: FileUseView): string =>
  [created_at, read_at, changed_at]
    .filter((at) => at !== null)
    .sort()
    .at(-1) ?? ''

const presentUse = (
  viewer: string,
  { type, id, name }: FileRecord['created_by'],
  use: FileUse | undefined,
  made: { at: number; run?: NonNullable<FileRecord['created_in']> } | undefined,
): FileUseView => {
  const runs = [...(use?.runs ?? []), ...(made?.run ? [{ ...made.run, at: made.at }] : [])]
  const own = runs.filter((run, i) => isVisibleTo(viewer, run) && runs.findIndex((one) => one.id === run.id) === i)
  return {
    actor: { type, id, name },
    created_at: made ? iso(made.at) : null,
    read_at: use?.read_at === undefined ? null : iso(use.read_at),
    changed_at: use?.changed_at === undefined ? null : iso(use.changed_at),
    runs: own.map((run) => ({ id: run.id, at: iso(run.at) })),
  }
}
