import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { AgentCardPinSchema } from '../agent-cards/index.ts'

const version = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    version: z.string(),
    /** Id in the manifest, `<vendor>.<slug>`. */
    agent_id: z.string(),
    /** `published` may be promoted. `in_review` is waiting for moderation, because its app was approved before. */
    status: z.enum(['published', 'in_review', 'approved', 'rejected']),
    /** Reason given by moderation for rejecting the version. */
    status_reason: z.string().optional(),
    /** Manifest as JSON text, or its object in the bucket if it is large. */
    manifest: z.union([z.object({ json: z.string() }), z.object({ object: z.string(), bytes: z.number() })]),
    runtime_type: z.enum(['webhook', 'inline', 'a2a']),
    endpoint: z.string().optional(),
    resume: z.boolean(),
    /** Pinned card of an outside agent, for the runtime `a2a`. */
    card: AgentCardPinSchema().optional(),
    /** Number of times that a run is sent at most (manifest `runtime.retry`). Absent if it is sent once. */
    max_attempts: z.number().optional(),
    /** Settings that its `config` requires without a default. Absent if there are none. */
    required_settings: z.array(z.string()).optional(),
    created_at: createdAt(),
  })

export type Version = z.infer<ReturnType<typeof version>>

export const VersionEntity = defineEntity({
  name: 'version',
  schema: version,
  pk: 'APP#{app_id}',
  sk: 'VER#{id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'removed' },
})

const looseManifest = () => z.object({ app_id: z.string(), version_id: z.string(), due_at: z.number() })

/** Marks a manifest in the bucket whose version doesn't exist yet. By it, the sweeper removes one whose version never came. */
export const LooseManifestEntity = defineEntity({
  name: 'loose-manifest',
  schema: looseManifest,
  pk: 'APP#{app_id}',
  sk: 'LOOSEMANIFEST#{version_id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  due: true,
})

const versionName = () => z.object({ app_id: z.string(), version: z.string(), version_id: z.string() })

/** Maps a version string to its version. A string is used once per app. */
export const VersionNameEntity = defineEntity({
  name: 'version-name',
  schema: versionName,
  pk: 'APP#{app_id}',
  sk: 'NAMED#{version}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'removed' },
})
