import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { FolderEntity } from '#shared/work/files/entity.ts'
import { type InstalledOptions, installed } from '#testkit/fixtures.ts'
import { type CallOptions, succeeded, type TestPlatform } from '#testkit/platform.ts'

/** Creates an installation, with functions that use its files. */
export const filesOf = async (platform: TestPlatform, options: InstalledOptions = {}) => {
  const app = await installed(platform.deps, options)
  const { workspaceId } = app
  const { installation, grant } = app
  const call = async (method: string, path = '', body?: unknown, headers: CallOptions['headers'] = {}) => {
    // Issued for each call, since the tests let days pass.
    const claims = { ins: installation.id, ws: workspaceId, app: app.app.id, grt: grant.id, sv: 1 }
    const { token } = await issueToken(platform.deps, 'access', claims)
    return platform.call(method, `/api/v1/files${path}`, { token, headers, body })
  }
  const create = (fields: Record<string, unknown> = {}) =>
    call('POST', '', { name: 'a.txt', content_type: 'text/plain', ...fields })
  return {
    ...app,
    call,
    create,
    /** Creates a file and throws if that fails. */
    file: (fields: Record<string, unknown> = { content: 'hello' }) => succeeded(create(fields)),
    folder: async (name = 'Contacts') => {
      const now = platform.clock.now()
      const folder = { ...stampOf(newId('folder', now)), workspace_id: workspaceId, name }
      await platform.deps.table.transact([FolderEntity.create(folder)])
      return folder
    },
    /** Returns the used quota: number of files and bytes. */
    used: async (): Promise<[files: number, bytes: number]> => {
      const of = async (counter: string) =>
        (await platform.deps.table.get(CounterEntity, { owner: workspaceId, counter }))?.n ?? 0
      return [await of('files'), await of('file-bytes')]
    },
    /** Sets the used amount of a quota. */
    use: (counter: 'files' | 'file-bytes', n: number) =>
      platform.deps.table.transact([CounterEntity.replace({ owner: workspaceId, counter, n })]),
    /** Lists the workspace's work that the sweeper will ever find. */
    due: async () => {
      const all = await platform.deps.table.due(platform.clock.now() + 365 * DAY, 100)
      return all.filter(({ key }) => key.pk.endsWith(workspaceId))
    },
    /** Returns the key of a file's object. */
    objectOf: (id: string) => `files/${workspaceId}/${id}`,
  }
}
