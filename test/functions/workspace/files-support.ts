import { issueToken } from '#shared/domain/tokens/tokens.ts'
import { CounterEntity } from '#shared/entities/developers.ts'
import { FolderEntity } from '#shared/entities/files.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import { type InstalledOptions, installed } from '#test/support/fixtures.ts'
import type { CallOptions, TestPlatform } from '#test/support/platform.ts'

/** An installation and what it does with files. */
export const filesOf = async (platform: TestPlatform, options: InstalledOptions = {}) => {
  const app = await installed(platform.deps, options)
  const { workspaceId } = app
  const { installation, grant } = app
  const call = async (method: string, path = '', body?: unknown, headers: CallOptions['headers'] = {}) => {
    // A token of now: the tests let days go by.
    const claims = { ins: installation.id, ws: workspaceId, app: app.app.id, grt: grant.id, sv: 1 }
    const { token } = await issueToken(platform.deps, 'access', claims)
    return platform.call(method, `/api/v1/files${path}`, { token, headers, ...(body !== undefined && { body }) })
  }
  const create = (fields: Record<string, unknown> = {}) =>
    call('POST', '', { name: 'a.txt', content_type: 'text/plain', ...fields })
  return {
    ...app,
    call,
    create,
    /** Creates a file that has to come to be. */
    file: async (fields: Record<string, unknown> = { content: 'hello' }) => {
      const { status, body, text } = await create(fields)
      if (status !== 201) throw new Error(text)
      return body
    },
    folder: async (name = 'Contacts') => {
      const now = platform.clock.now()
      const folder = { id: newId('folder', now), workspace_id: workspaceId, name, created_at: now }
      await platform.deps.table.transact([FolderEntity.create(folder)])
      return folder
    },
    /** How much of the quota is taken: files, and bytes. */
    used: async (): Promise<[files: number, bytes: number]> => {
      const of = async (counter: string) =>
        (await platform.deps.table.get(CounterEntity, { owner: workspaceId, counter }))?.n ?? 0
      return [await of('files'), await of('file-bytes')]
    },
    /** Takes so much of the quota. */
    use: (counter: 'files' | 'file-bytes', n: number) =>
      platform.deps.table.transact([CounterEntity.replace({ owner: workspaceId, counter, n })]),
    /** What waits for the sweep, in all time to come. */
    due: async () => {
      const all = await platform.deps.table.due(platform.clock.now() + 365 * DAY, 100)
      return all.filter(({ key }) => key.pk.endsWith(workspaceId))
    },
    /** Where a file's content lies. */
    objectOf: (id: string) => `files/${workspaceId}/${id}`,
  }
}
