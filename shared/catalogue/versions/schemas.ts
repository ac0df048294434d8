import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { AgentCardPinSchema } from '../agent-cards/index.ts'

/** Manifest in a request. Accepts any JSON, because the validator reports its own findings. */
export const AnyManifest = () => z.unknown().meta({ id: 'Manifest' })

/** Input of the validation, which also reports on values that are not a manifest at all. */
export const ManifestToValidate = () =>
  z.union([AnyManifest(), z.unknown().meta({ description: 'Any other value. The response lists its errors.' })])

const finding = () =>
  z
    .object({
      path: z
        .string()
        .meta({ description: 'JSON Pointer (RFC 6901) into the manifest.', example: '/runtime/endpoint' }),
      message: z.string(),
      fix: z.string(),
    })
    .meta({ id: 'ManifestFinding' })

/** A schedule that a version's manifest proposes, as people see it (contract/schedules.md#proposals). */
export const ProposedScheduleSchema = () =>
  z
    .object({
      key: z.string().meta({ example: 'weekly_summary' }),
      name: z.string().meta({ example: 'Every Monday, sum up the week' }),
      when: z
        .object({ cron: z.string().optional(), time_zone: z.string().optional(), every: z.string().optional() })
        .meta({ example: { cron: '0 9 * * MON' } }),
      start: z
        .object({
          input: z.record(z.string(), z.unknown()).optional(),
          tool: z.string().optional(),
          arguments: z.record(z.string(), z.unknown()).optional(),
        })
        .meta({ example: { input: { topic: 'the week' } } }),
    })
    .meta({ id: 'ProposedSchedule' })

/** Response of `POST /api/v1/dev/manifest/validate` (contract/apps-and-manifests.md#manifests). */
export const ReportSchema = () => {
  const findings = z.array(finding())
  return z.object({ valid: z.boolean(), errors: findings, warnings: findings }).meta({ id: 'ManifestReport' })
}

/** Published version (contract/apps-and-manifests.md#versions-and-promotion). */
export const VersionSchema = () =>
  z
    .object({
      id: idField('ver'),
      version: z.string().meta({ example: '1.0.0' }),
      status: z.enum(['published', 'in_review', 'approved', 'rejected']).meta({
        description:
          'A new version of an approved app is in_review until moderation decides. Otherwise it is published.',
      }),
      created_at: time(),
      manifest: AnyManifest(),
      card: AgentCardPinSchema()
        .optional()
        .meta({ description: 'Stored part of its agent’s card, for the runtime `a2a`.' }),
      card_change: z
        .object({ found_at: time(), problem: z.string().optional() })
        .optional()
        .meta({
          description:
            'Of your newest version: its agent’s card has changed since you published it, or can’t be used for the reason ' +
            'in `problem`. Runs use the card as it was.',
        }),
      promoted: z.boolean().meta({ description: 'True if new installations get this version.' }),
    })
    .meta({ id: 'Version' })

export type ReportView = z.infer<ReturnType<typeof ReportSchema>>

export type VersionView = z.infer<ReturnType<typeof VersionSchema>>
