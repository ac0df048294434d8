import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'
import { APP_STATUSES } from './apps.ts'

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
    /** What was said with the decision, for the developer. */
    reason: z.string().optional(),
    /** The admin who decided. */
    decided_by: z.string().optional(),
    decided_at: z.number().optional(),
    created_at: z.number(),
  })

export type Verification = z.infer<ReturnType<typeof verification>>

/** Where moderators find the applications of one status, all developers' together. */
export const verificationsBy = (status: Verification['status']): string => `verifications-${status}`

/** A developer's applications for the verified badge. Each change writes it whole, so that it moves among the lists. */
export const VerificationEntity = defineEntity<Verification>()({
  name: 'verification',
  schema: verification,
  pk: 'DEV#{developer_id}',
  sk: 'VRF#{id}',
  directory: ({ status, id }) => ({ list: verificationsBy(status), sort: id }),
})

const appMessage = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    author: z.object({ type: z.enum(['developer', 'moderator']), id: z.string(), name: z.string() }),
    text: z.string(),
    created_at: z.number(),
  })

export type AppMessage = z.infer<ReturnType<typeof appMessage>>

/** What a developer and the moderators write to each other about an app. */
export const AppMessageEntity = defineEntity<AppMessage>()({
  name: 'app-message',
  schema: appMessage,
  pk: 'APP#{app_id}',
  sk: 'MSG#{id}',
})

const appThread = () =>
  z.object({
    app_id: z.string(),
    developer_id: z.string(),
    /** Who has to answer: the moderators while the developer wrote last. */
    waits_for: z.enum(['moderator', 'developer']),
    last_message_id: z.string(),
    last_message_at: z.number(),
  })

/** Where moderators find the apps whose developer waits for them, or that wait for their developer. */
export const threadsWaitingFor = (whom: 'moderator' | 'developer'): string => `app-threads-${whom}`

/** The state of an app's correspondence. Each message writes it whole, so that it moves among the lists. */
export const AppThreadEntity = defineEntity<z.infer<ReturnType<typeof appThread>>>()({
  name: 'app-thread',
  schema: appThread,
  pk: 'APP#{app_id}',
  sk: 'THREAD',
  directory: ({ waits_for, last_message_id }) => ({ list: threadsWaitingFor(waits_for), sort: last_message_id }),
})

const appStanding = () =>
  z.object({ app_id: z.string(), type: z.enum(['agent', 'integration']), status: z.enum(APP_STATUSES) })

/** Apps of one status and type, all developers' together. */
export const appsBy = (status: (typeof APP_STATUSES)[number], type: 'agent' | 'integration'): string =>
  `apps-${status}-${type}`

/** Where staff finds an app by its status. Each change of status writes it whole, so that it moves among the lists. */
export const AppStandingEntity = defineEntity<z.infer<ReturnType<typeof appStanding>>>()({
  name: 'app-standing',
  schema: appStanding,
  pk: 'APP#{app_id}',
  sk: 'STANDING',
  directory: ({ app_id, status, type }) => ({ list: appsBy(status, type), sort: app_id }),
})

export const CHECK_STATUSES = ['passed', 'failed', 'warning', 'skipped'] as const

const check = () =>
  z.object({
    id: z.string(),
    status: z.enum(CHECK_STATUSES),
    message: z.string(),
    fix: z.string().optional(),
    evidence: z.record(z.string(), z.unknown()),
    checked_at: z.number(),
    duration_ms: z.number(),
  })

export type Check = z.infer<ReturnType<typeof check>>

const appChecks = () =>
  z.object({
    app_id: z.string(),
    version_id: z.string(),
    version: z.string(),
    /** What of the app was looked at: it is looked at anew once it changed. */
    app_updated_at: z.number(),
    checks: z.array(check()),
    checked_at: z.number(),
  })

export type AppChecks = z.infer<ReturnType<typeof appChecks>>

/** What the automatic checks of a version found last, with their evidence. */
export const AppChecksEntity = defineEntity<AppChecks>()({
  name: 'app-checks',
  schema: appChecks,
  pk: 'APP#{app_id}',
  sk: 'CHECKS#{version_id}',
})
