import * as z from 'zod'
import { ROLES } from '../../entities/people.ts'
import { idField, line } from '../fields.ts'

/** `POST /console/session`: a session for local development (decisions §9). */
export const ProvisionSession = () =>
  z
    .strictObject({
      user: line(100)
        .optional()
        .meta({ description: 'Who: the same text is the same person. Default: `local-user`.', example: 'ann' }),
      workspace: line(100).optional().meta({
        description:
          'Where: the same text is the same workspace; or the id of one that exists. Default: the person’s own.',
        example: 'acme',
      }),
      role: z.enum(ROLES).optional().meta({
        description: 'The person’s role there from now on. Default: the one they have; `owner` for a newcomer.',
      }),
    })
    .meta({ id: 'ProvisionSession' })

export type ProvisionInput = z.infer<ReturnType<typeof ProvisionSession>>

const userShape = () =>
  z.object({ id: idField('usr'), name: z.string(), locale: z.string(), time_zone: z.string() }).meta({ id: 'User' })

const workspaceShape = () =>
  z
    .object({
      id: idField('ws'),
      name: z.string(),
      is_sandbox: z.boolean(),
      status: z.enum(['active', 'suspended']),
      role: z.enum(ROLES).meta({ description: 'What the person is in it.' }),
      locale: z.string(),
      time_zone: z.string(),
    })
    .meta({ id: 'ConsoleWorkspace' })

/** What every console sign-in answers. */
export const ConsoleSessionSchema = () =>
  z
    .object({
      token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Seconds.', example: 43_200 }),
      user: userShape(),
      workspace: workspaceShape(),
    })
    .meta({ id: 'ConsoleSession' })

/** `GET /console/me`. */
export const ConsoleIdentitySchema = () =>
  z
    .object({
      user: userShape(),
      workspace: workspaceShape(),
      bans: z
        .object({ denied_tools: z.array(z.string()), denied_scopes: z.array(z.string()) })
        .meta({ description: 'What admins of the workspace forbade.' }),
    })
    .meta({ id: 'ConsoleIdentity' })

export type ConsoleSessionView = z.infer<ReturnType<typeof ConsoleSessionSchema>>
export type ConsoleIdentityView = z.infer<ReturnType<typeof ConsoleIdentitySchema>>
