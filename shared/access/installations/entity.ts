import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity, type OwnedPartition } from '#shared/table/entity.ts'

export const person = () => z.object({ id: z.string(), name: z.string() })

const consents = () =>
  z.object({
    /** Scopes of the direct install, which lasts as long as the installation. */
    direct: z.array(z.string()).optional(),
    /** Number of live grants. */
    grants: z.number(),
    /** Number of live grants by scope. */
    granted: z.record(z.string(), z.number()),
    /** A live grant, the newest if possible. Runs that no token starts are bound to it. */
    latest: z.string().optional(),
  })

/** The live consents of an installation: a direct install, and grants. Constant size, however many grants there are. */
export type Consents = z.infer<ReturnType<typeof consents>>

const installation = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    app_slug: z.string(),
    app_name: z.string(),
    status: z.enum(['active', 'suspended', 'revoked']),
    /** Reason that a platform admin gave for suspending it. */
    status_reason: z.string().optional(),
    /**
     * Scopes that the live consents grant together, kept with every change of a consent. The workspace's bans still apply
     * (`scopesInEffect`). Empty while access is withdrawn.
     */
    scopes: z.array(z.string()),
    /** Live consents that `scopes` sums up. */
    consents: consents(),
    /** Incremented at every change of a consent, so that no concurrent change is lost. */
    consent_version: z.number(),
    /** Time at which the last consent ended. Absent while there is one. */
    withdrawn_at: z.number().optional(),
    /** The agent's id in its manifest, `<vendor>.<slug>`. */
    agent_id: z.string(),
    version: z.string(),
    version_id: z.string(),
    is_sandbox: z.boolean(),
    /** Sealed JSON of the settings' values; absent while nothing is set. */
    settings: z.string().optional(),
    /** Names of the settings whose value is valid for the attached version. */
    settings_set: z.array(z.string()).optional(),
    /** Names of the stored settings that were given as secrets. */
    settings_secret: z.array(z.string()).optional(),
    /** Settings that the attached version requires and has no default for. */
    required_settings: z.array(z.string()).optional(),
    /** Slugs of apps, so that the list outlives their installations. */
    allowed_callers: z.array(z.string()).nullable(),
    denied_tools: z.array(z.string()),
    owner: person(),
    created_at: createdAt(),
    updated_at: z.number(),
    revoked_at: z.number().optional(),
  })

export type Installation = z.infer<ReturnType<typeof installation>>

/** Name of the total of installations in this state. Revoked ones aren't counted. */
export const installationsBy = (status: 'active' | 'suspended'): string => `installations-${status}`

export const InstallationEntity = defineEntity({
  name: 'installation',
  schema: installation,
  pk: 'WS#{workspace_id}',
  sk: 'INS#{id}',
  personal: { names: ['owner'] },
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ id }) => ownedByInstallation(id),
    lists: ({ id }) => [secretsOf(id)],
  },
  list: ({ app_id, id }) => ({ owner: `APP#${app_id}#INSTALLATIONS`, sort: id }),
})

const appInstallation = () => z.object({ workspace_id: z.string(), app_id: z.string(), installation_id: z.string() })

/** The installation that an app has in a workspace now. At most one isn't revoked. */
export const AppInstallationEntity = defineEntity({
  name: 'app-installation',
  schema: appInstallation,
  pk: 'WS#{workspace_id}',
  sk: 'OFAPP#{app_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const installationPlace = () => z.object({ installation_id: z.string(), workspace_id: z.string() })

/** The workspace of an installation, for platform admins who only know its id. Written with the installation. */
export const InstallationPlaceEntity = defineEntity({
  name: 'installation-place',
  schema: installationPlace,
  pk: 'INS#{installation_id}',
  sk: 'PLACE',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const removal = () =>
  z.object({
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    /** Actor who uninstalled the app. */
    by: z.object({ type: z.string(), id: z.string() }),
    created_at: z.number(),
    /** Set when everything has been ended. */
    done_at: z.number().optional(),
    due_at: z.number().optional(),
  })

export type Removal = z.infer<ReturnType<typeof removal>>

/** Work left after an app was uninstalled. Written with the installation's status and kept until it is done. */
export const RemovalEntity = defineEntity({
  name: 'removal',
  schema: removal,
  pk: 'INS#{installation_id}',
  sk: 'REMOVAL',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
})

const withdrawal = () =>
  z.object({
    installation_id: z.string(),
    workspace_id: z.string(),
    created_at: z.number(),
    due_at: z.number().optional(),
  })

/** Work left after the last consent ended: the runs that must end. Written with the installation's scopes. */
export const WithdrawalEntity = defineEntity({
  name: 'withdrawal',
  schema: withdrawal,
  pk: 'INS#{installation_id}',
  sk: 'WITHDRAWAL',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
})

/** Partitions that belong to an installation's id. The orchestrator has them too, although it has no record of its own. */
export const ownedByInstallation = (id: string): OwnedPartition[] => [
  ['run', { installation_id: id }],
  ['chain-mark', { installation_id: id }],
  ['feed-entry', { installation_id: id }],
  ['counter', { owner: id }],
]

/** Owner of the list of an installation's codes and refresh tokens, which are otherwise found only by their hash. */
export const secretsOf = (installationId: string): string => `${installationId}#SECRETS`
