import { loadManifest, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { eachItem } from '#shared/table/pages.ts'
import { ScheduleEntity, schedulesOf } from './entity.ts'
import { loadScene, type Scene } from './prepare.ts'
import { isVisible, type Manager } from './read.ts'

type Reading = Pick<Deps, 'table' | 'objects'>

const PAGE = 100

/** Lists the proposals of the installed version. */
const listProposed = async (deps: Reading, { installation: { app_id, version_id } }: Scene) => {
  const version = await deps.table.get(VersionEntity, { app_id, id: version_id })
  return version ? ((await loadManifest(deps, version)).schedules ?? []) : []
}

/** @throws `validation_error` for a key that the installed version doesn't propose */
export const requireProposal = async (deps: Reading, scene: Scene, key: string): Promise<void> => {
  if ((await listProposed(deps, scene)).some((one) => one.key === key)) return
  const problem = 'must be the key of a schedule that the installed version proposes'
  throw fail('validation_error', { message: `proposal ${problem}.`, details: { fields: { proposal: [problem] } } })
}

/**
 * Lists the schedules that an agent proposes, each with the one that the person sees and that comes from it. One that has
 * ended doesn't count. @throws `not_found`
 */
export const listProposals = async (deps: Reading, manager: Manager, installation_id: string) => {
  const scene = await loadScene(deps, { workspace_id: manager.workspace_id, installation_id })
  if (!scene) throw fail('not_found', { message: 'Installation not found.' })
  const proposed = await listProposed(deps, scene)
  const made = new Map<string, string>()
  if (proposed.length > 0) {
    for await (const one of eachItem((after) =>
      deps.table.listed(ScheduleEntity, schedulesOf(installation_id), { limit: PAGE, after }),
    )) {
      if (one.proposal !== undefined && one.status !== 'ended' && isVisible(manager, one))
        made.set(one.proposal, one.id)
    }
  }
  return {
    items: proposed.map((one) => ({ ...one, schedule_id: made.get(one.key) ?? null })),
  }
}
