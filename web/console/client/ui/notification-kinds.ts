import { t } from '../../../ui/messages.ts'
import type { Schemas } from '../api.ts'

export type Kind = Schemas['NotificationPreferences']['messaging_app']['off'][number]

/** Kinds of notifications that people choose from, in words. */
export const KINDS: readonly [kind: Kind, words: string][] = [
  ['run.awaiting_approval', t('A run needs approval')],
  ['agent.question', t('An agent has a question')],
  ['task.question', t('A task needs an answer')],
  ['task.report', t('A task is ready for review')],
  ['task.assigned', t('Someone assigned you a task')],
  ['messenger.draft', t('An agent drafted a message')],
  ['agent.notice', t('An agent sent a notice')],
  ['grant.revoked', t('An app’s access was revoked')],
  ['messenger.disconnected', t('A messenger account was disconnected')],
  ['messenger.budget', t('An agent used its daily budget for messages')],
  ['budget.alert', t('A budget reaches 50, 80 or 100 percent')],
  ['schedule.paused', t('A schedule was paused')],
  ['account.passkeys', t('Your passkeys changed')],
  ['account.email', t('Your e-mail address changed')],
  ['review.replied', t('A developer replied to your review')],
  ['review.moderated', t('A moderator hid or showed your review')],
  ['request.claimed', t('An agent you requested is being built')],
  ['request.status_changed', t('The status of an agent you requested changed')],
  ['abuse.resolved', t('Your report about an agent was reviewed')],
  ['verification.decided', t('Your application for the verified badge was decided')],
  ['workspace.deleting', t('The workspace will be deleted')],
]
