import { MemberEntity } from '../../../entities/people.ts'
import { fail } from '../../../kernel/errors.ts'
import { isId } from '../../../kernel/ids.ts'
import type { Work } from '../../deps.ts'
import { newNotification } from '../../notifications/new.ts'
import type { Executor } from './executor.ts'

interface Args {
  title: string
  body: string
  user_id?: string | undefined
}

/** `notify_user`: tells one person of the workspace, or all of its people, in the agent's name. */
export const notifyUser: Executor = async (work, { installation, app, workspace }, args) => {
  const { title, body, user_id } = args as unknown as Args
  if (user_id !== undefined) await requireMember(work, workspace.id, user_id)
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

const requireMember = async ({ table }: Pick<Work, 'table'>, workspace_id: string, user_id: string): Promise<void> => {
  const member = isId('user', user_id) ? await table.get(MemberEntity, { workspace_id, user_id }) : undefined
  if (member) return
  throw fail('validation_error', {
    message: 'Nobody in the organization has this id.',
    details: { fields: { 'arguments.user_id': ['there is no such person; GET /api/v1/members lists them'] } },
  })
}
