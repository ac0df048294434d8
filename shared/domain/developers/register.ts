import { ClaimEntity, type Developer, DeveloperEntity, DeveloperKeyEntity } from '../../entities/developers.ts'
import { fail } from '../../kernel/errors.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newInvitationWrites } from '../people/invitations.ts'
import { newWorkspaceWrites } from '../people/workspaces.ts'
import { placeOfDeveloper, rosterWrites } from '../roster/places.ts'
import { countedOnPlatform } from '../statistics/platform.ts'
import { presentDeveloper } from './present.ts'
import type { RegisteredView, RegisterInput } from './schemas.ts'

/**
 * Creates an account with its key, its sandbox workspace and a link into that workspace, all or nothing.
 * @throws `conflict` for an e-mail that is taken, whatever its case
 */
export const registerDeveloper = async (work: Work, input: RegisterInput): Promise<RegisteredView> => {
  const now = work.clock.now()
  const id = work.id('developer')
  const apiKey = newSecret('dvk_')
  const name = input.company ?? input.name
  const { workspace, writes: founding } = newWorkspaceWrites(work, { name, isSandbox: true, developerId: id })
  const {
    link,
    invitation,
    writes: inviting,
  } = newInvitationWrites(work, {
    workspaceId: workspace.id,
    role: 'owner',
    createdBy: id,
  })
  const developer: Developer = {
    id,
    email: input.email,
    name: input.name,
    company: input.company,
    status: 'active',
    verified: false,
    sandbox_workspace_id: workspace.id,
    sandbox_invitation_id: invitation.id,
    key_hash: sha256(apiKey),
    created_at: now,
  }
  const view: RegisteredView = {
    developer: presentDeveloper(developer),
    api_key: apiKey,
    sandbox_workspace: { id: workspace.id, name: workspace.name, is_sandbox: true, invite_link: link },
  }
  await work.commit(
    [
      ClaimEntity.create(
        { kind: 'developer-email', value: input.email.toLowerCase(), owner_id: id },
        {
          otherwise: () =>
            fail('conflict', {
              message: 'This e-mail address has an account already.',
              fix: 'Use the key of that account, or register with another address.',
            }),
        },
      ),
      DeveloperEntity.create(developer),
      ...rosterWrites(undefined, placeOfDeveloper(developer)),
      DeveloperKeyEntity.create({ key_hash: developer.key_hash, developer_id: id, status: 'active', created_at: now }),
      countedOnPlatform(work, now, id, { developers: 1 }),
      ...founding,
      ...inviting,
      auditDeveloper(work, id, 'developer.registered', { type: 'developer', id }),
    ],
    view,
  )
  return view
}
