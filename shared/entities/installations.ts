import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const person = () => z.object({ id: z.string(), name: z.string() })

const installation = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    app_slug: z.string(),
    app_name: z.string(),
    status: z.enum(['active', 'suspended', 'revoked']),
    /** Why the platform’s staff suspended it. */
    status_reason: z.string().optional(),
    /** The latest consent. A token's scopes are its grant's, cut down to these. */
    scopes: z.array(z.string()),
    /** The agent's id in its manifest, `<vendor>.<slug>`. */
    agent_id: z.string(),
    version: z.string(),
    version_id: z.string(),
    is_sandbox: z.boolean(),
    /** Sealed JSON of the settings' values; absent while nothing is set. */
    settings: z.string().optional(),
    /** Names of the settings that have a value which fits the attached version. */
    settings_set: z.array(z.string()).optional(),
    /** Names of those among the kept values that were given as secrets. */
    settings_secret: z.array(z.string()).optional(),
    /** Settings that the attached version requires and has no default for. */
    required_settings: z.array(z.string()).optional(),
    allowed_callers: z.array(z.string()).nullable(),
    denied_tools: z.array(z.string()),
    owner: person(),
    created_at: z.number(),
    updated_at: z.number(),
    revoked_at: z.number().optional(),
  })

export type Installation = z.infer<ReturnType<typeof installation>>

/** The total of installations that are in that state; of those that are revoked there is none. */
export const installationsBy = (status: 'active' | 'suspended'): string => `installations-${status}`

export const InstallationEntity = defineEntity<Installation>()({
  name: 'installation',
  schema: installation,
  pk: 'WS#{workspace_id}',
  sk: 'INS#{id}',
  list: ({ app_id, id }) => ({ owner: `APP#${app_id}#INSTALLATIONS`, sort: id }),
})

const appInstallation = () => z.object({ workspace_id: z.string(), app_id: z.string(), installation_id: z.string() })

/** Which installation an app has in a workspace now; at most one that is not revoked. */
export const AppInstallationEntity = defineEntity<z.infer<ReturnType<typeof appInstallation>>>()({
  name: 'app-installation',
  schema: appInstallation,
  pk: 'WS#{workspace_id}',
  sk: 'OFAPP#{app_id}',
})

const installationPlace = () => z.object({ installation_id: z.string(), workspace_id: z.string() })

/** In which workspace an installation is, for staff, who know no more than its id. Written with it. */
export const InstallationPlaceEntity = defineEntity<z.infer<ReturnType<typeof installationPlace>>>()({
  name: 'installation-place',
  schema: installationPlace,
  pk: 'INS#{installation_id}',
  sk: 'PLACE',
})

const removal = () =>
  z.object({
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    /** Who uninstalled. */
    by: z.object({ type: z.string(), id: z.string() }),
    created_at: z.number(),
    /** Nothing is left to be ended. */
    done_at: z.number().optional(),
    due_at: z.number().optional(),
  })

export type Removal = z.infer<ReturnType<typeof removal>>

/** What is to be ended after an app was uninstalled: written with the installation’s status, kept until it is done. */
export const RemovalEntity = defineEntity<Removal>()({
  name: 'removal',
  schema: removal,
  pk: 'INS#{installation_id}',
  sk: 'REMOVAL',
  due: true,
})

const grant = () =>
  z.object({
    id: z.string(),
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    scopes: z.array(z.string()),
    status: z.enum(['active', 'revoked']),
    revoked_reason: z.string().optional(),
    approved_by: person().optional(),
    kind: z.enum(['oauth', 'sandbox']),
    created_at: z.number(),
    last_used_at: z.number().optional(),
    due_at: z.number().optional(),
  })

export type Grant = z.infer<ReturnType<typeof grant>>

/** Where a workspace's live grants are listed. */
export const grantsOf = (workspaceId: string): string => `WS#${workspaceId}#GRANTS`

/** One consent and the chain of refresh tokens that grew from it. Listed for as long as it is live. */
export const GrantEntity = defineEntity<Grant>()({
  name: 'grant',
  schema: grant,
  pk: 'INS#{installation_id}',
  sk: 'GRT#{id}',
  list: ({ workspace_id, id, status }) =>
    status === 'active' ? { owner: grantsOf(workspace_id), sort: id } : undefined,
})
