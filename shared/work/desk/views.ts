import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { DeskEntity } from './entity.ts'
import type { SavedViews } from './schemas.ts'

/** Whose desk it is. */
export interface DeskOwner {
  workspace_id: string
  user_id: string
}

export const readViews = async ({ table }: Pick<Deps, 'table'>, owner: DeskOwner): Promise<SavedViews> => {
  const desk = await table.get(DeskEntity, owner)
  return { views: desk?.views ?? [] }
}

/** Replaces all views. The last write wins. */
export const setViews = async (work: Work, owner: DeskOwner, { views }: SavedViews): Promise<SavedViews> => {
  await work.commit([DeskEntity.upsert(owner, { set: { ...owner, views } })], { views })
  return { views }
}
