import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Workspace } from './entity.ts'

/**
 * Returns `installation_suspended` with what is suspended and who can lift it: only the platform lifts a suspension, and only
 * an owner cancels a deletion. Without a workspace, or with an active one, the installation itself is suspended.
 */
export const suspended = (workspace?: Pick<Workspace, 'status'>): PlatformError => {
  switch (workspace?.status) {
    case 'deleting':
      return fail('installation_suspended', {
        message: 'The workspace is scheduled for deletion.',
        fix: 'Ask an owner of the workspace to cancel the deletion in the console’s settings (POST /console/workspace/restore).',
      })
    case 'suspended':
      return fail('installation_suspended', {
        message: 'The platform has suspended the workspace.',
        fix: 'Ask an owner of the workspace to contact platform support. Only the platform can lift the suspension.',
      })
    default:
      return fail('installation_suspended')
  }
}
