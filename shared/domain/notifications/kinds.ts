/** What notifications are about. A person can turn each off in the messaging app; in the console all of them stand. */
export const NOTIFICATION_KINDS = {
  'run.awaiting_approval': 'An agent waits for somebody to allow a dangerous action.',
  'agent.notice': 'An agent told something.',
  'agent.question': 'An agent asked something.',
  'task.question': 'An agent asked something about a task.',
  'task.report': 'An agent reported a task’s result.',
  'grant.revoked': 'An app’s access was ended as a precaution.',
  'review.replied': 'A developer replied to the workspace’s review.',
  'review.moderated': 'A moderator hid the workspace’s review, or showed it again.',
  'verification.decided': 'The application for the verified badge was decided.',
  'request.claimed': 'A developer builds an agent that the workspace asked for.',
  'request.status_changed': 'An agent that the workspace asked for is further.',
  'abuse.resolved': 'A complaint of the workspace was decided.',
  'messenger.draft': 'An agent’s draft of a message waits for approval.',
  'messenger.disconnected': 'A messenger account was disconnected.',
  'workspace.deleting': 'The workspace is going to be deleted.',
} as const

export type NotificationKind = keyof typeof NOTIFICATION_KINDS

/** Those of a list that can be chosen in a request. */
export const KIND_NAMES = Object.keys(NOTIFICATION_KINDS) as [NotificationKind, ...NotificationKind[]]
