import * as z from 'zod'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Workspace, WorkspaceEntity } from './entity.ts'

const MOST_HOSTS = 50

const fields = () => ({
  enabled: z.boolean().meta({ description: 'True if members may use assistants here.' }),
  allowed_hosts: z
    .array(z.string().regex(/^[a-z0-9.[\]:-]{1,253}$/, 'must be a host in lower case, such as claude.ai'))
    .max(MOST_HOSTS)
    .transform((hosts) => [...new Set(hosts)])
    .nullable()
    .meta({ description: 'Hosts that may be used; null for every one.', example: ['claude.ai', 'localhost'] }),
})

/** Body of `PUT /console/settings/hosts`. */
export const SetHosts = () => z.strictObject(fields()).meta({ id: 'SetHostSettings' })

export const HostSettingsSchema = () =>
  z.object({ enabled: z.boolean(), allowed_hosts: z.array(z.string()).nullable() }).meta({ id: 'HostSettings' })

type HostSettings = z.infer<ReturnType<typeof HostSettingsSchema>>

/** Returns whether members may use assistants, and which. */
export const hostSettingsOf = ({ hosts }: Pick<Workspace, 'hosts'>): HostSettings => ({
  enabled: hosts?.enabled ?? true,
  allowed_hosts: hosts?.allowed ?? null,
})

/** Changes them. It counts from the next request of every assistant on. */
export const setHosts = (
  work: Work,
  by: { workspaceId: string; userId: string },
  { enabled, allowed_hosts }: HostSettings,
): Promise<HostSettings> =>
  retryOnConflict(async () => {
    const workspace = await work.table.get(WorkspaceEntity, { id: by.workspaceId })
    if (!workspace) throw fail('not_found')
    const before = hostSettingsOf(workspace)
    const after = { enabled, allowed_hosts }
    if (JSON.stringify(before) === JSON.stringify(after)) return after
    const hosts = { enabled, ...(allowed_hosts && { allowed: allowed_hosts }) }
    await work.commit(
      [
        WorkspaceEntity.update(workspace, { set: { hosts } }),
        auditPerson(work, by, 'workspace.hosts_changed', { type: 'workspace', id: by.workspaceId }, { before, after }),
      ],
      after,
    )
    return after
  })
