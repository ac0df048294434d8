import { FolderEntity } from '#shared/entities/files.ts'
import { newId } from '#shared/kernel/ids.ts'
import { conversation } from '#test/support/fixtures.ts'
import type { Installed, Stage } from '../endpoints/stage.ts'

/** Whose lists grow: one workspace with one agent, and one developer's app. */
export interface World extends Installed {
  conversationId: string
  webhookId: string
  folderId: string
  /** A developer's own app, beside the workspace. */
  developed: { id: string; developerId: string; headers: Record<string, string> }
}

/** The owners of the lists, each list as good as empty. */
export const createWorld = async (stage: Stage): Promise<World> => {
  const { platform, contract } = stage
  const app = await stage.install()
  const folder = { id: newId('folder', platform.clock.now()), workspace_id: app.workspaceId, name: 'Counts' }
  await platform.deps.table.transact([FolderEntity.create({ ...folder, created_at: platform.clock.now() })])
  const { body: webhook } = await stage.call('POST', '/api/v1/webhooks', {
    token: app.token,
    body: { url: `${stage.agent.url}/hook`, events: ['custom.never'] },
  })
  const { owner, app: developed, headers } = await contract.developer()
  const { id: conversationId } = await conversation(platform.deps, app)
  return {
    ...app,
    conversationId,
    webhookId: webhook.id,
    folderId: folder.id,
    developed: { id: developed.id, developerId: owner.id, headers },
  }
}
