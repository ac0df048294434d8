import { AppEntity } from '../../entities/apps.ts'
import { CounterEntity } from '../../entities/developers.ts'
import { type AppMessage, AppMessageEntity } from '../../entities/moderation.ts'
import { iso } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { messageCounter, newAppMessage } from './messages.ts'
import type { ModeratedAppMessageView } from './schemas.ts'

/** A page of an app's correspondence, newest first, with how many messages it has. @throws `not_found` */
export const listForModerators = async (
  { table }: Pick<Deps, 'table'>,
  app_id: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: AppMessage[]; total: number }> => {
  const [app, counter] = await table.getAll([
    { entity: AppEntity, key: AppEntity.key({ id: app_id }) },
    { entity: CounterEntity, key: CounterEntity.key(messageCounter(app_id)) },
  ] as const)
  if (!app) throw noApp()
  const { items } = await table.query(AppMessageEntity, { app_id }, { limit: offset + limit })
  return { items: items.slice(offset), total: counter?.n ?? 0 }
}

/** `POST /admin/apps/{id}/messages`. @throws `not_found` */
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
    [...writes, auditStaff(work, moderator, 'app.message_sent', target, { message_id: message.id })],
    view,
  )
  return view
}

export const presentModeratedMessage = ({ created_at, ...message }: AppMessage): ModeratedAppMessageView => ({
  ...message,
  created_at: iso(created_at),
})

const noApp = () => fail('not_found', { message: 'There is no such app.' })
