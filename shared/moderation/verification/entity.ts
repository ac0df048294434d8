import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

export const VERIFICATION_STATUSES = ['pending', 'approved', 'rejected'] as const

const verification = () =>
  z.object({
    id: z.string(),
    developer_id: z.string(),
    status: z.enum(VERIFICATION_STATUSES),
    legal_name: z.string(),
    website: z.string(),
    contact_email: z.string(),
    country: z.string(),
    registration_number: z.string().optional(),
    about: z.string(),
    /** Reason for the decision, for the developer. */
    reason: z.string().optional(),
    /** The admin who decided. */
    decided_by: z.string().optional(),
    decided_at: z.number().optional(),
    created_at: createdAt(),
  })

export type Verification = z.infer<ReturnType<typeof verification>>

/** List of all applications with one status. */
export const verificationsBy = (status: Verification['status']): string => `verifications-${status}`

/**
 * A developer's application for the verified badge. Each change rewrites the whole record, which moves it between
 * lists.
 */
export const VerificationEntity = defineEntity({
  name: 'verification',
  schema: verification,
  pk: 'DEV#{developer_id}',
  sk: 'VRF#{id}',
  personal: { contact: ['legal_name', 'contact_email'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ status, id }) => ({ list: verificationsBy(status), sort: id }),
})
