import type { App } from '../../entities/apps.ts'
import { CounterEntity } from '../../entities/developers.ts'
import { type AppMessage, AppMessageEntity, AppThreadEntity } from '../../entities/moderation.ts'
import { iso } from '../../kernel/clock.ts'
import type { Write } from '../../table/entity.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { ownApp } from '../apps/read.ts'
import type { Deps, Work } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'
import type { AppMessageView } from './schemas.ts'

/** How many messages an app's correspondence has. */
export const messageCounter = (app_id: string) => ({ owner: app_id, counter: 'messages' })

/**
 * A message about an app, from its developer or from a moderator, for the transaction of what it tells. The app then waits
 * for the other side, where moderators find it: of two messages at once the later one says for whom.
 */
export const newAppMessage = (
  work: Pick<Work, 'id' | 'clock'>,
  { id: app_id, developer_id }: Pick<App, 'id' | 'developer_id'>,
  author: AppMessage['author'],
  text: string,
): { message: AppMessage; writes: Write[] } => {
  const message: AppMessage = { id: work.id('message'), app_id, author, text, created_at: work.clock.now() }
  const counter = messageCounter(app_id)
  return {
    message,
    writes: [
      AppMessageEntity.create(message),
      CounterEntity.upsert(counter, { set: counter, add: { n: 1 } }),
      AppThreadEntity.replace({
        app_id,
        developer_id,
        waits_for: author.type === 'developer' ? 'moderator' : 'developer',
        last_message_id: message.id,
        last_message_at: message.created_at,
      }),
    ],
  }
}

const writeAppMessage = async (
  work: Work,
  app: Pick<App, 'id' | 'developer_id'>,
  author: AppMessage['author'],
  text: string,
): Promise<AppMessageView> => {
  const { message, writes } = newAppMessage(work, app, author, text)
  const view = presentAppMessage(message)
  await work.commit(writes, view)
  return view
}

/** @throws `not_found` for another developer's app */
export const writeAsDeveloper = async (
  work: Work,
  developerId: string,
  appId: string,
  text: string,
): Promise<AppMessageView> => {
  const [app, { id, name }] = await Promise.all([ownApp(work, developerId, appId), loadDeveloper(work, developerId)])
  return writeAppMessage(work, app, { type: 'developer', id, name }, text)
}

/** Newest first. @throws `not_found` for another developer's app */
export const listAppMessages = async (
  deps: Pick<Deps, 'table'>,
  developerId: string,
  appId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AppMessage>> => {
  const { id: app_id } = await ownApp(deps, developerId, appId)
  return deps.table.query(AppMessageEntity, { app_id }, options)
}

/** A developer meets the moderators as one: which of them wrote is in their own records only. */
export const presentAppMessage = ({ author, created_at, ...message }: AppMessage): AppMessageView => ({
  ...message,
  author: author.type === 'moderator' ? { type: 'moderator', id: 'moderation', name: 'Moderation' } : author,
  created_at: iso(created_at),
})
