import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { platformCountWrite } from '#shared/foundation/counters/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { placeOfDeveloper, rosterWrites } from '#shared/staff/roster/index.ts'
import { DeveloperEntity, DeveloperKeyEntity } from '../developers/entity.ts'
import { newDeveloper } from '../developers/member-list.ts'
import { sendMail } from '../mails/index.ts'
import { newInvitationWrites } from '../people/invitations.ts'
import { newWorkspaceWrites } from '../people/workspaces.ts'
import { contactOf, newEmailToken } from './email.ts'
import { presentDeveloper } from './present.ts'
import type { RegisteredView, RegisterInput } from './schemas.ts'

/**
 * Creates an account with its key, its sandbox workspace and an invite link to that workspace, all in one transaction.
 * @throws `conflict` if the e-mail address is taken, ignoring case
 */
export const registerDeveloper = async (
  work: Work,
  input: RegisterInput,
  language: string,
): Promise<RegisteredView> => {
  const now = work.clock.now()
  const id = work.id('developer')
  const apiKey = newSecret('dvk_')
  const name = input.company ?? input.name
  const { workspace, writes: workspaceWrites } = newWorkspaceWrites(work, { name, isSandbox: true, developerId: id })
  const {
    link,
    invitation,
    writes: invitationWrites,
  } = newInvitationWrites(work, {
    workspaceId: workspace.id,
    role: 'owner',
    createdBy: id,
    givenBy: sha256(apiKey),
  })
  const developer = newDeveloper({
    ...stampOf(id),
    email: input.email,
    name: input.name,
    company: input.company,
    status: 'active',
    verified: false,
    sandbox_workspace_id: workspace.id,
    sandbox_invitation_id: invitation.id,
    key_hash: sha256(apiKey),
    language,
  })
  const view: RegisteredView = {
    developer: presentDeveloper(developer),
    api_key: apiKey,
    sandbox_workspace: { id: workspace.id, name: workspace.name, is_sandbox: true, invite_link: link },
  }
  const proof = work.settings.developerProof && work.settings.mailFrom !== undefined
  const mail = proof ? await newEmailToken(work, contactOf(developer, language), 'prove') : undefined
  await work.commit(
    [
      ClaimEntity.create(
        { kind: 'developer-email', value: input.email.toLowerCase(), owner_id: id },
        {
          otherwise: () =>
            fail('conflict', {
              message: 'An account with this e-mail address already exists.',
              fix: 'Use the key of that account, recover it with POST /api/v1/dev/recover, or register with another address.',
            }),
        },
      ),
      DeveloperEntity.create(developer),
      ...rosterWrites(undefined, placeOfDeveloper(developer)),
      DeveloperKeyEntity.create({
        key_hash: developer.key_hash,
        developer_id: id,
        status: 'active',
        role: 'owner',
        created_at: now,
      }),
      platformCountWrite(work, now, id, { developers: 1 }),
      ...workspaceWrites,
      ...(mail?.writes ?? []),
      ...invitationWrites,
      auditDeveloper(work, id, 'developer.registered', { type: 'developer', id }),
    ],
    view,
  )
  if (mail) await sendMail(work, mail.mailId)
  return view
}
