import { AppEntity, loadOwnApps } from '#shared/catalogue/apps/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import type { Upgrade } from './upgrade.ts'

/** Marks the apps of developers who were blocked before a block stopped new installations. */
export const markAppsOfBlocked: Upgrade<typeof DeveloperEntity> = {
  id: '0004-blocked-developers',
  title: 'stops new installations of the apps of developers who were blocked before',
  entity: DeveloperEntity,
  async writes({ id, status }, { table }) {
    if (status !== 'blocked') return []
    const { apps } = await loadOwnApps({ table }, id)
    const unmarked = apps.filter(({ developer_blocked }) => !developer_blocked)
    if (unmarked.length === 0) return []
    return [
      DeveloperEntity.check({ id }, { where: { status } }),
      ...unmarked.map((app) => AppEntity.update({ id: app.id }, { set: { developer_blocked: true } })),
    ]
  },
}
