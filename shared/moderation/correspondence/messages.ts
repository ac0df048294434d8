import { type App, loadOwnApp } from '#shared/catalogue/apps/index.ts'
import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type AppMessage, AppMessageEntity, AppThreadEntity, type Decision } from './entity.ts'
import type { AppMessageView, ModeratedAppMessageView } from './schemas.ts'

/** Counter of the messages in an app's correspondence. */
export const messageCounter = (app_id: string) => ({ owner: app_id, counter: 'messages' })

/**
 * Returns the writes for a message about an app, from its developer or from a moderator. They go into the transaction
 * of the change that the message reports. The app then waits for the other side. If both sides write at once, the later
 * message decides who has to reply.
 */
export const newAppMessage = (
  work: Pick<Work, 'id' | 'clock'>,
  { id: app_id, developer_id }: Pick<App, 'id' | 'developer_id'>,
  author: AppMessage['author'],
  content: string | Decision,
): { message: AppMessage; writes: Write[] } => {
  const message: AppMessage = {
    ...stampOf(work.id('message')),
    app_id,
    author,
    ...(typeof content === 'string' ? { text: content } : { text: englishText(content), decision: content }),
  }
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

const englishText = ({ code, version, fields = [], reason }: Decision): string => {
  const text = {
    'app.approved': 'The app was approved.',
    'app.relisted': 'The app is back in the marketplace.',
    'app.rejected': 'The app was rejected.',
    'app.delisted': 'The app was removed from the marketplace. Existing installations keep working.',
    'app.suspended': 'The app was suspended.',
    'app.unsuspended': 'The app is no longer suspended.',
    'version.approved': `Version ${version} was approved. You can now promote it.`,
    'version.rejected': `Version ${version} was rejected.`,
    'revision.approved': `Your changes to ${fields.join(', ')} were approved and are live.`,
    'revision.rejected': `Your changes to ${fields.join(', ')} were rejected. The app stays as it is.`,
  }[code]
  return reason === undefined ? text : `${text} ${reason}`
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

/**
 * Writes a message as the app's developer.
 * @throws `not_found` for another developer's app
 */
export const writeAsDeveloper = async (
  work: Work,
  developerId: string,
  appId: string,
  text: string,
): Promise<AppMessageView> => {
  const [app, { id, name }] = await Promise.all([
    loadOwnApp(work, developerId, appId),
    loadDeveloper(work, developerId),
  ])
  return writeAppMessage(work, app, { type: 'developer', id, name }, text)
}

/**
 * Returns the messages of an app, newest first.
 * @throws `not_found` for another developer's app
 */
export const listAppMessages = async (
  deps: Pick<Deps, 'table'>,
  developerId: string,
  appId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AppMessage>> => {
  const { id: app_id } = await loadOwnApp(deps, developerId, appId)
  return deps.table.query(AppMessageEntity, { app_id }, options)
}

/** Presents a message to the developer, who sees all moderators as one. Only admins see which moderator wrote it. */
export const presentAppMessage = (message: AppMessage): AppMessageView => ({
  ...presentModeratedMessage(message),
  ...(message.author.type === 'moderator' && { author: { type: 'moderator', id: 'moderation', name: 'Moderation' } }),
})

export const presentModeratedMessage = ({ created_at, decision, ...message }: AppMessage): ModeratedAppMessageView => ({
  ...message,
  decision: decision
    ? {
        code: decision.code,
        version: decision.version ?? null,
        fields: decision.fields ?? null,
        reason: decision.reason ?? null,
      }
    : null,
  created_at: iso(created_at),
})
