import { presentOrganization } from '#shared/identity/people/index.ts'
import type { Executor } from './executor.ts'

export const workspaceInfo: Executor = async (_work, { workspace }) => ({
  result: presentOrganization(workspace),
  writes: [],
})
