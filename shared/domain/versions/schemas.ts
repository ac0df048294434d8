import * as z from 'zod'
import { idField, time } from '../fields.ts'

/** A manifest on its way in: any JSON, because the validator answers it with findings of its own. */
export const AnyManifest = () => z.unknown().meta({ id: 'Manifest' })

/** What is to be checked: what is no manifest at all is told so, too. */
export const SupposedManifest = () =>
  z.union([AnyManifest(), z.unknown().meta({ description: 'Anything else: the answer says what it lacks.' })])

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

/** What `POST /api/v1/dev/manifest/validate` answers (decisions §9). */
export const ReportSchema = () => {
  const findings = z.array(finding())
  return z.object({ valid: z.boolean(), errors: findings, warnings: findings }).meta({ id: 'ManifestReport' })
}

/** A published version (decisions §9). */
export const VersionSchema = () =>
  z
    .object({
      id: idField('ver'),
      version: z.string().meta({ example: '1.0.0' }),
      status: z.enum(['published', 'in_review', 'approved', 'rejected']).meta({
        description: 'Of an approved app a new version is in_review until moderation decides; before that, published.',
      }),
      created_at: time(),
      manifest: AnyManifest(),
      promoted: z.boolean().meta({ description: 'New installations get this version.' }),
    })
    .meta({ id: 'Version' })

export type ReportView = z.infer<ReturnType<typeof ReportSchema>>
export type VersionView = z.infer<ReturnType<typeof VersionSchema>>
