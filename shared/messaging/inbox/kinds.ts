/** Kinds of notifications. Users can turn each one off in Telegram; the console always shows all of them. */
export const NOTIFICATION_KINDS = {
  'run.awaiting_approval': 'An agent needs approval for a dangerous action.',
  'agent.notice': 'An agent sent a notice.',
  'agent.question': 'An agent asked a question.',
  'task.question': 'An agent asked a question about a task.',
  'task.report': 'An agent reported a task’s result.',
  'task.assigned': 'Someone assigned a task to the person.',
  'grant.revoked': 'An app’s access was revoked as a precaution.',
  'review.replied': 'A developer replied to the workspace’s review.',
  'review.moderated': 'A moderator hid the workspace’s review or made it visible again.',
  'verification.decided': 'The application for the verified badge was approved or rejected.',
  'request.claimed': 'A developer started to build an agent that the workspace requested.',
  'request.status_changed': 'The status of an agent that the workspace requested changed.',
  'abuse.resolved': 'An abuse report from the workspace was resolved.',
  'messenger.draft': 'An agent’s draft of a message needs approval.',
  'messenger.budget': 'An agent has used its daily budget for messages from outside.',
  'messenger.disconnected': 'A messenger account was disconnected.',
  'account.passkeys': 'A passkey was added to the person’s account, or removed from it.',
  'account.email': 'The person’s e-mail address for notifications changed.',
  'budget.alert': 'A budget has reached 50, 80 or 100 percent.',
  'workspace.deleting': 'The workspace is scheduled for deletion.',
} as const

export type NotificationKind = keyof typeof NOTIFICATION_KINDS

/** Names of all kinds, for request schemas. */
export const KIND_NAMES = Object.keys(NOTIFICATION_KINDS) as [NotificationKind, ...NotificationKind[]]
