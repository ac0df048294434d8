import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { type AppMessage, AppMessageEntity } from './entity.ts'
import { messageCounter, newAppMessage, presentModeratedMessage } from './messages.ts'
import type { ModeratedAppMessageView } from './schemas.ts'

/**
 * Returns a page of an app's correspondence, newest first, and the total number of messages.
 * @throws `not_found`
 */
export const listMessagesForModerators = async (
  { table }: Pick<Deps, 'table'>,
  app_id: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: AppMessage[]; total: number }> => {
  const [app, counter] = await table.getAll([
    AppEntity.ref({ id: app_id }),
    CounterEntity.ref(messageCounter(app_id)),
  ] as const)
  if (!app) throw noApp()
  const { items } = await table.query(AppMessageEntity, { app_id }, { limit: offset + limit })
  return { items: items.slice(offset), total: counter?.n ?? 0 }
}

/**
 * Handles `POST /admin/apps/{id}/messages`.
 * @throws `not_found`
 */
export const writeAsModerator = async (
  work: Work,
  moderator: Moderator,
  appId: string,
  text: string,
): Promise<ModeratedAppMessageView> => {
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw noApp()
  const { id, name } = moderator.admin
  const { message, writes } = newAppMessage(work, app, { type: 'moderator', id, name }, text)
  const view = presentModeratedMessage(message)
  const target = { type: 'app', id: appId }
  await work.commit(
    [...writes, auditAdmin(work, moderator, 'app.message_sent', target, { message_id: message.id })],
    view,
  )
  return view
}

const noApp = () => fail('not_found', { message: 'App not found.' })
