import * as z from 'zod'
import { emailAddress, idField, line, time } from '../fields.ts'

/** `POST /api/v1/dev/register` (decisions §9). */
export const RegisterDeveloper = () =>
  z
    .strictObject({
      email: z
        .string()
        .trim()
        .max(254)
        .pipe(emailAddress())
        .meta({ description: 'Unique, whatever its case.', example: 'dev@example.com' }),
      name: line(100).meta({ example: 'Ada Example' }),
      company: line(200).optional().meta({ example: 'Example Ltd' }),
    })
    .meta({ id: 'RegisterDeveloper' })

export type RegisterInput = z.infer<ReturnType<typeof RegisterDeveloper>>

const developer = {
  id: idField('dev'),
  email: z.string(),
  name: z.string(),
  company: z.string().nullable(),
  status: z.enum(['active', 'blocked']),
  vendor: z.string().nullable().meta({ description: 'First part of manifest ids, fixed by the first publication.' }),
  verified: z.boolean(),
  created_at: time(),
}

/** A developer account as its owner sees it. */
export const DeveloperSchema = () => z.object(developer).meta({ id: 'Developer' })

const sandboxWorkspace = {
  id: idField('ws'),
  name: z.string(),
  is_sandbox: z.literal(true),
}

/** `GET /api/v1/dev/me`. */
export const ProfileSchema = () =>
  z.object({ ...developer, sandbox_workspace: z.object(sandboxWorkspace) }).meta({ id: 'DeveloperProfile' })

/** `POST /api/v1/dev/me/rotate-key`. */
export const DeveloperKeySchema = () =>
  z
    .object({ api_key: z.string().meta({ description: 'The new developer key, shown once.', example: 'dvk_…' }) })
    .meta({ id: 'DeveloperKey' })

const inviteLink = () =>
  z.string().meta({
    description: 'Lets its holder join the sandbox workspace as its owner, once, within 7 days.',
    example: 'join_…',
  })

/** `POST /api/v1/dev/sandbox/invite`. */
export const SandboxInviteSchema = () => z.object({ invite_link: inviteLink() }).meta({ id: 'SandboxInvite' })

/** What registration answers; the key and the link are not shown again. */
export const RegisteredSchema = () =>
  z
    .object({
      developer: DeveloperSchema(),
      api_key: z.string().meta({ description: 'The developer key, shown once.', example: 'dvk_…' }),
      sandbox_workspace: z.object({
        ...sandboxWorkspace,
        invite_link: inviteLink(),
      }),
    })
    .meta({ id: 'RegisteredDeveloper' })

export type DeveloperView = z.infer<ReturnType<typeof DeveloperSchema>>
export type ProfileView = z.infer<ReturnType<typeof ProfileSchema>>
export type DeveloperKeyView = z.infer<ReturnType<typeof DeveloperKeySchema>>
export type SandboxInviteView = z.infer<ReturnType<typeof SandboxInviteSchema>>
export type RegisteredView = z.infer<ReturnType<typeof RegisteredSchema>>
