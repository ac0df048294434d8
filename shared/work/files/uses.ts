import type { Installation } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import { type FileRecord, type FileUse, FileUseEntity, RUNS_PER_USE } from './entity.ts'

/** Person or agent that uses a file, and the run in which an agent does. */
export interface FileUser {
  actor: FileUse['actor']
  run?: { id: string; private_to?: string | undefined } | undefined
}

/** Returns the user for an agent, in a run or outside of one. */
export const agentFileUser = ({
  installation: { id, app_name },
  run,
}: {
  installation: Pick<Installation, 'id' | 'app_name'>
  run?: FileUser['run']
}): FileUser => ({ actor: { type: 'agent', id, name: app_name }, run })

/** Period in which further reads by the same user, in the same run, aren't recorded. */
const REPEATED_READ = 5 * MINUTE

const keyOf = ({ workspace_id, id }: Pick<FileRecord, 'workspace_id' | 'id'>, { actor }: FileUser) => ({
  workspace_id,
  file_id: id,
  actor_id: actor.id,
})

/** Returns the reference of a user's record, for the batch that reads the file. */
export const useRef = (file: Pick<FileRecord, 'workspace_id' | 'id'>, user: FileUser) =>
  FileUseEntity.ref(keyOf(file, user))

/**
 * Records that a file was read, with one write. A repeat within five minutes writes nothing, so that polling costs nothing.
 * Concurrent reads by the same agent may lose one of the runs. A read never fails because it couldn't be recorded.
 * @param known the user's record, as it was read with the file
 */
export const recordRead = async (
  { commit, clock, log }: Pick<Work, 'commit' | 'clock' | 'log'>,
  file: FileRecord,
  user: FileUser,
  known: FileUse | undefined,
): Promise<void> => {
  const now = clock.now()
  const { actor, run } = user
  const runs = known?.runs ?? []
  const isNewRun = run !== undefined && runs[0]?.id !== run.id
  if (!isNewRun && known?.read_at !== undefined && known.read_at > now - REPEATED_READ) return
  const key = keyOf(file, user)
  const latest = isNewRun
    ? [{ id: run.id, private_to: run.private_to, at: now }, ...runs.filter(({ id }) => id !== run.id)]
    : runs
  const kept = latest.slice(0, RUNS_PER_USE)
  const use: FileUse = { ...known, ...key, actor, read_at: now, last_at: now, ...(kept.length > 0 && { runs: kept }) }
  try {
    await commit([FileUseEntity.replace(use)])
  } catch (error) {
    log.warn('could not record who read a file', { file_id: file.id, error })
  }
}

/**
 * Returns the write that records a renaming or a move, for the transaction of the change.
 * @param known the user's record, as it was read with the file
 */
export const changeWrite = (
  { clock }: Pick<Work, 'clock'>,
  file: Pick<FileRecord, 'workspace_id' | 'id'>,
  user: FileUser,
  known: FileUse | undefined,
): Write => {
  const now = clock.now()
  return FileUseEntity.replace({ ...known, ...keyOf(file, user), actor: user.actor, changed_at: now, last_at: now })
}
