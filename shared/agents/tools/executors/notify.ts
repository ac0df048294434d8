import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { findMember } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { loadCallPosition } from '#shared/work/runs/index.ts'
import type { Executor } from './executor.ts'

interface Args {
  title: string
  body: string
  user_id?: string | undefined
}

/**
 * `notify_user`: notifies one person or everyone in the workspace, in the agent's name. Without a name, a private conversation
 * notifies only its person.
 */
export const notifyUser: Executor = async (work, { installation, app, workspace, run, bound }, args) => {
  const { title, body, user_id: named } = args as unknown as Args
  if (named !== undefined) await requireMember(work, workspace.id, named)
  const user_id = named ?? (await loadCallPosition(work, installation.id, run, bound)).private_to
  const { notification, writes } = newNotification(work, {
    workspace_id: workspace.id,
    user_id,
    kind: 'agent.notice',
    title,
    body,
    installation_id: installation.id,
    app_id: app.id,
  })
  return { result: { notification_id: notification.id, user_id: user_id ?? null }, writes }
}

const requireMember = async (
  work: Pick<Work, 'table' | 'clock'>,
  workspace_id: string,
  user_id: string,
): Promise<void> => {
  const member = isId('user', user_id) ? await findMember(work, workspace_id, user_id) : undefined
  if (member) return
  throw fail('validation_error', {
    message: 'No person in the workspace has the id sent as user_id.',
    details: {
      fields: {
        'arguments.user_id': ['must be the id of a person in the workspace; list them with GET /api/v1/members'],
      },
    },
  })
}
