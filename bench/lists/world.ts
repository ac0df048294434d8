import { newId, stampOf } from '#shared/kernel/ids.ts'
import { FolderEntity } from '#shared/work/files/entity.ts'
import { type Account, AccountEntity, type Thread, ThreadEntity } from '#shared/work/threads/entity.ts'
import { conversation } from '#testkit/fixtures.ts'
import type { Installed, Stage } from '../endpoints/stage.ts'

/** Owners of the lists: one workspace with one agent, and one developer's app. */
export interface World extends Installed {
  conversationId: string
  webhookId: string
  folderId: string
  scheduleId: string
  /** Thread of the workspace's bot. */
  messenger: Thread
  /** A developer's app outside the workspace. */
  developed: { id: string; developerId: string; headers: Record<string, string> }
}

/** Creates the owners of the lists, with nearly empty lists. */
export const createWorld = async (stage: Stage): Promise<World> => {
  const { platform, contract } = stage
  const app = await stage.install()
  const folder = { ...stampOf(newId('folder', platform.clock.now())), workspace_id: app.workspaceId, name: 'Counts' }
  await platform.deps.table.transact([FolderEntity.create(folder)])
  const { body: webhook } = await stage.call('POST', '/api/v1/webhooks', {
    token: app.token,
    body: { url: `${stage.agent.url}/hook`, events: ['custom.never'] },
  })
  const { body: schedule } = await stage.call('POST', '/api/v1/schedules', {
    token: app.token,
    body: {
      name: 'Weekly summary',
      start: { input: {} },
      when: { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' },
    },
  })
  const { owner, app: developed, headers } = await contract.developer()
  const { id: conversationId } = await conversation(platform.deps, app)
  return {
    ...app,
    conversationId,
    webhookId: webhook.id,
    folderId: folder.id,
    scheduleId: schedule.id,
    messenger: await messengerChat(stage, app),
    developed: { id: developed.id, developerId: owner.id, headers },
  }
}

const messengerChat = async (
  { platform }: Stage,
  { workspaceId: workspace_id, person }: Installed,
): Promise<Thread> => {
  const now = platform.clock.now()
  const { id, name } = person.user
  const account: Account = {
    ...stampOf(newId('account', now)),
    workspace_id,
    kind: 'bot',
    status: 'active',
    telegram_id: 424_243,
    name: 'Shop',
    username: 'shop_bot',
    shared: true,
    created_by: { id, name },
    can_reply: true,
    updated_at: now,
  }
  const thread: Thread = {
    ...stampOf(newId('thread', now)),
    workspace_id,
    account_id: account.id,
    chat_id: 1,
    conversation_id: newId('conversation', now),
    title: 'Cleo',
    last_message_at: now,
  }
  await platform.deps.table.transact([AccountEntity.create(account), ThreadEntity.create(thread)])
  return thread
}
