import type { World } from './world.ts'

/** List that grows for as long as people and agents work. */
export interface ListSubject {
  path(world: World): string
  /** Caller that lists. Default: the agent. */
  as?: 'person' | 'developer' | 'admin'
  /** Records that a page passes, however few it shows. Default: those that it shows. */
  passes?: number
  /** Queries of its filters, by name. */
  filters?(world: World): Record<string, string>
}

const at = (path: string, as?: ListSubject['as']): ListSubject => ({ path: () => path, ...(as && { as }) })

/** All unbounded lists, by their endpoint's id. */
export const LISTS: Record<string, ListSubject> = {
  'api.tasks.list': { ...at('/api/v1/tasks'), filters: () => ({ 'one status': 'status=review' }) },
  'api.conversations.list': at('/api/v1/conversations'),
  'api.conversations.messages.list': {
    path: ({ conversationId }) => `/api/v1/conversations/${conversationId}/messages`,
  },
  'api.files.list': {
    ...at('/api/v1/files'),
    filters: ({ folderId }) => ({ 'one folder': `folder_id=${folderId}`, 'no folder': 'folder_id=root' }),
  },
  'api.runs.list': { ...at('/api/v1/runs'), filters: () => ({ 'one status': 'status=failed' }) },
  'api.events.list': {
    ...at('/api/v1/events'),
    filters: () => ({ 'one type': 'types=custom.*', 'a type that is not there': 'types=task.*' }),
  },
  'api.webhooks.listDeliveries': {
    path: ({ webhookId }) => `/api/v1/webhooks/${webhookId}/deliveries`,
    filters: () => ({ 'one status': 'status=pending', 'a type that is not there': 'types=task.*' }),
  },
  'api.schedules.list': { ...at('/api/v1/schedules'), filters: () => ({ 'one status': 'status=active' }) },
  'api.schedules.listOccurrences': { path: ({ scheduleId }) => `/api/v1/schedules/${scheduleId}/occurrences` },
  'api.members.list': at('/api/v1/members'),
  'api.agents.list': at('/api/v1/agents'),
  'console.tasks.list': at('/console/tasks', 'person'),
  'console.files.list': {
    ...at('/console/files', 'person'),
    filters: ({ folderId }) => ({ 'one folder': `folder_id=${folderId}`, 'no folder': 'folder_id=root' }),
  },
  'console.agents.list': at('/console/agents', 'person'),
  'console.audit.list': { ...at('/console/audit', 'person'), filters: () => ({ 'one action': 'action=agent.called' }) },
  'console.notifications.list': {
    ...at('/console/notifications', 'person'),
    filters: () => ({ unread: 'unread=true' }),
  },
  'console.conversations.list': {
    ...at('/console/conversations', 'person'),
    filters: ({ installation }) => ({ tasks: 'kind=task', 'one agent': `installation_id=${installation.id}` }),
  },
  'console.conversations.messages.list': {
    path: ({ conversationId }) => `/console/conversations/${conversationId}/messages`,
    as: 'person',
  },
  'console.messenger.chats.list': {
    ...at('/console/messenger/chats', 'person'),
    filters: ({ messenger }) => ({ 'one account': `account_id=${messenger.account_id}` }),
  },
  'console.messenger.messages.list': {
    path: ({ messenger }) => `/console/messenger/chats/${messenger.id}/messages`,
    as: 'person',
  },
  'console.schedules.list': {
    ...at('/console/schedules', 'person'),
    filters: ({ installation }) => ({
      'one status': 'status=active',
      'one agent': `installation_id=${installation.id}`,
    }),
  },
  'console.schedules.listOccurrences': {
    path: ({ scheduleId }) => `/console/schedules/${scheduleId}/occurrences`,
    as: 'person',
  },
  'console.connectedWebhooks.list': { ...at('/console/connected-webhooks', 'person'), passes: 10 },
  'console.connectedWebhooks.listDeliveries': {
    path: ({ installation, webhookId }) => `/console/installations/${installation.id}/webhooks/${webhookId}/deliveries`,
    as: 'person',
  },
  'console.runs.list': at('/console/runs', 'person'),
  'console.members.list': at('/console/members', 'person'),
  'console.invitations.list': at('/console/invitations', 'person'),
  'console.installations.list': at('/console/installations', 'person'),
  'console.marketplace.list': {
    ...at('/console/marketplace', 'person'),
    filters: () => ({ 'one category': 'category=support', 'a word': 'q=stock', 'words few have': 'q=stock+picked' }),
  },
  'console.grants.list': at('/console/grants', 'person'),
  'console.reviews.list': { path: ({ app }) => `/console/apps/${app.id}/reviews`, as: 'person' },
  'developer.reviews.list': {
    ...at('/api/v1/dev/reviews', 'developer'),
    filters: () => ({ 'without a reply': 'unanswered=true' }),
  },
  'developer.apps.reviews.list': {
    path: ({ developed }) => `/api/v1/dev/apps/${developed.id}/reviews`,
    as: 'developer',
  },
  'developer.apps.messages.list': {
    path: ({ developed }) => `/api/v1/dev/apps/${developed.id}/messages`,
    as: 'developer',
  },
  'developer.apps.logs': {
    path: ({ developed }) => `/api/v1/dev/apps/${developed.id}/logs`,
    as: 'developer',
    filters: () => ({ 'one status': 'status=failed' }),
  },
  'console.agentRequests.list': {
    ...at('/console/agent-requests', 'person'),
    filters: () => ({ 'one status': 'status=claimed', 'by votes': 'sort=votes' }),
  },
  'admin.runs.list': {
    ...at('/admin/runs', 'admin'),
    filters: ({ installation }) => ({
      'one workspace': `workspace=${installation.workspace_id}`,
      'one app': `app=${installation.app_id}`,
    }),
  },
  'admin.admins.list': at('/admin/admins', 'admin'),
  'admin.developers.list': {
    ...at('/admin/developers', 'admin'),
    filters: () => ({ blocked: 'status=blocked', 'how a name begins': 'q=developer%200000' }),
  },
  'admin.workspaces.list': {
    ...at('/admin/workspaces', 'admin'),
    filters: () => ({ suspended: 'status=suspended', 'how a name begins': 'q=organization%200000' }),
  },
  'admin.audit.list': {
    ...at('/admin/audit', 'admin'),
    filters: ({ workspaceId }) => ({
      'one subject': `subject=${workspaceId}`,
      'one workspace': `workspace=${workspaceId}`,
      'one action': 'action=agent.called',
    }),
  },
  'admin.requests.list': { ...at('/admin/requests', 'admin'), filters: () => ({ 'one status': 'status=claimed' }) },
  'admin.abuseReports.list': {
    ...at('/admin/abuse-reports', 'admin'),
    filters: () => ({ 'one status': 'status=upheld' }),
  },
  'admin.review.list': { ...at('/admin/review', 'admin'), filters: () => ({ 'one kind': 'kind=version' }) },
  'admin.apps.list': {
    ...at('/admin/apps', 'admin'),
    filters: () => ({ 'one status': 'status=delisted', 'one type': 'type=integration' }),
  },
  'admin.appMessages.list': {
    path: ({ developed }) => `/admin/apps/${developed.id}/messages`,
    as: 'admin',
  },
  'admin.verifications.list': {
    ...at('/admin/verifications', 'admin'),
    filters: () => ({ 'one status': 'status=rejected' }),
  },
  'admin.reviews.list': {
    ...at('/admin/reviews', 'admin'),
    filters: ({ app }) => ({ 'one app': `app=${app.id}`, 'one rating': 'rating=4', hidden: 'hidden=true' }),
  },
  'developer.requests.list': {
    ...at('/api/v1/dev/requests', 'developer'),
    filters: () => ({ 'one status': 'status=claimed' }),
  },
  'developer.versions.list': { path: ({ developed }) => `/api/v1/dev/apps/${developed.id}/versions`, as: 'developer' },
}

/** Lists that cannot grow, and why. */
export const SHORT: Record<string, string> = {
  'oauth.scopes.list': 'the scopes of the platform',
  'api.tools.list': 'the platform’s tools',
  'api.webhooks.list': 'at most 20 for an installation',
  'console.messenger.accounts.list': 'at most 20 shared ones and one’s own',
  'developer.sdkExamples.list': 'the samples of the platform',
  'developer.apps.list': 'at most 20 for a developer',
  'admin.keys.list': 'at most 20 for an admin',
  'admin.passkeys.list': 'at most 10 for an admin',
  'admin.sessions.list': 'one’s own, of the last hours',
  'admin.sessions.listOf': 'an admin’s own, of the last hours',
  'console.passkeys.list': 'at most 10 for a person',
  'console.files.uses': 'at most 500 people and agents in 90 days',
  'console.inbox.list': 'at most 100 of each kind that waits',
  'console.inputRequests.list': 'at most 50 waiting runs for an installation',
  'console.sessions.list': 'one’s own, of the last hours',
  'developer.apps.runs.exchanges': 'the requests of one run in the sandbox',
  'developer.keys.list': 'at most 20 for a developer',
  'developer.members.list': 'at most 10 people of an account',
  'developer.passkeys.list': 'at most 10 for a person',
  'developer.sessions.list': 'sessions that live 12 hours',
}
