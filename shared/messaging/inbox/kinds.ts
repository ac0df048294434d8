/** Kinds of notifications. Users can turn each one off in Telegram; the console always shows all of them. */
export const NOTIFICATION_KINDS = {
  'run.awaiting_approval': 'An agent needs approval.',
  'agent.notice': 'An agent sent a notice.',
  'agent.question': 'An agent asked a question.',
  'task.question': 'An agent asked about a task.',
  'task.report': 'The result of a task.',
  'task.assigned': 'A task for the person.',
  'grant.revoked': 'An app’s access was revoked.',
  'review.replied': 'A developer replied.',
  'review.moderated': 'A moderator hid or showed the review.',
  'verification.decided': 'On the verified badge.',
  'request.claimed': 'A developer builds a requested agent.',
  'request.status_changed': 'A requested agent’s status changed.',
  'abuse.resolved': 'A report was resolved.',
  'messenger.draft': 'A draft needs approval.',
  'messenger.budget': 'The day’s budget is used up.',
  'messenger.disconnected': 'An account was disconnected.',
  'account.passkeys': 'A passkey was added or removed.',
  'account.email': 'The e-mail address changed.',
  'budget.alert': 'A budget is at 50, 80 or 100%.',
  'schedule.paused': 'A schedule was paused.',
  'workspace.deleting': 'The workspace will be deleted.',
} as const

export type NotificationKind = keyof typeof NOTIFICATION_KINDS

/** Names of all kinds, for request schemas. */
export const KIND_NAMES = Object.keys(NOTIFICATION_KINDS) as [NotificationKind, ...NotificationKind[]]
