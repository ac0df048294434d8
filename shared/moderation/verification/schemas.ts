import * as z from 'zod'
import { webAddress } from '#shared/catalogue/apps/index.ts'
import { emailAddress, idField, line, name, time } from '#shared/foundation/schemas/index.ts'
import { VERIFICATION_STATUSES } from './entity.ts'

const application = () => ({
  legal_name: name(200).meta({ description: 'Registered legal name.', example: 'Example Ltd' }),
  website: webAddress(),
  contact_email: emailAddress().meta({ example: 'legal@example.com' }),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be a two-letter country code in capitals (ISO 3166-1)')
    .meta({ example: 'NL' }),
  about: line(4_000).meta({ description: 'Who you are and what your agents do.', example: 'We build stock agents.' }),
})

/** Body of `POST /api/v1/dev/verification`. */
export const ApplyForVerification = () =>
  z
    .strictObject({
      ...application(),
      registration_number: line(100)
        .optional()
        .meta({ description: 'Number in the company register.', example: '12345678' }),
    })
    .meta({ id: 'ApplyForVerification' })

export type ApplyInput = z.infer<ReturnType<typeof ApplyForVerification>>

/** An application as its developer sees it. */
export const VerificationSchema = () =>
  z
    .object({
      id: idField('vrf'),
      status: z.enum(VERIFICATION_STATUSES),
      legal_name: z.string(),
      website: z.string(),
      contact_email: z.string(),
      country: z.string(),
      registration_number: z.string().nullable(),
      about: z.string(),
      reason: z.string().nullable().meta({ description: 'Why the application was rejected.' }),
      decided_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'Verification' })

/** Response of `GET /api/v1/dev/verification`. */
export const VerificationStateSchema = () =>
  z
    .object({
      verified: z.boolean(),
      application: VerificationSchema().nullable().meta({ description: 'The latest application.' }),
    })
    .meta({ id: 'VerificationState' })

/** An application as an admin sees it. */
export const ModeratedVerificationSchema = () =>
  VerificationSchema()
    .extend({ developer_id: idField('dev'), decided_by: idField('adm').nullable() })
    .meta({ id: 'ModeratedVerification' })

/** Body of `POST /admin/verifications/{id}/decide`. */
export const DecideVerification = () =>
  z
    .strictObject({
      decision: z.enum(['approve', 'reject']),
      reason: line(2_000).meta({
        description: 'Shown to the developer.',
        example: 'The company register confirms the details.',
      }),
    })
    .meta({ id: 'DecideVerification' })

export type ModeratedVerificationView = z.infer<ReturnType<typeof ModeratedVerificationSchema>>

export type VerificationView = z.infer<ReturnType<typeof VerificationSchema>>

export type VerificationStateView = z.infer<ReturnType<typeof VerificationStateSchema>>
