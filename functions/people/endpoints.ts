import type { Endpoint } from '#shared/http/endpoint.ts'
import { invitationEndpoints } from './invitations.ts'
import { memberEndpoints } from './members.ts'
import { profileEndpoints } from './profile.ts'
import { reviewEndpoints } from './reviews.ts'
import { sessionEndpoints } from './session.ts'
import { workspaceEndpoints } from './workspace.ts'

export const endpoints: Endpoint[] = [
  ...sessionEndpoints,
  ...memberEndpoints,
  ...invitationEndpoints,
  ...reviewEndpoints,
  ...profileEndpoints,
  ...workspaceEndpoints,
]
