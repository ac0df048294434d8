import { localSignIn } from '../../session/config.ts'
import { t } from '../../ui/messages.ts'
import { loadRoute, type Route, RoutedScreen } from '../../ui/routes.tsx'
import { Empty, Screen } from '../../ui/screen.tsx'
import { isAdmin } from './account.ts'

const ROUTES: readonly Route[] = [
  {
    path: '/',
    load: () => import('./screens/home.tsx'),
    first: 'console/analytics?days=14 console/runs?limit=5',
  },
  { path: '/chat', load: () => import('./screens/chat.tsx'), first: 'console/conversations?limit=100' },
  {
    path: '/chat/:id',
    load: () => import('./screens/chat.tsx'),
    first: 'console/conversations?limit=100 console/conversations/:id/messages',
  },
  { path: '/tasks', load: () => import('./screens/tasks.tsx') },
  { path: '/tasks/:id', load: () => import('./screens/task.tsx'), first: 'console/tasks/:id' },
  { path: '/agents', load: () => import('./screens/agents.tsx'), first: 'console/installations' },
  { path: '/agents/:id', load: () => import('./screens/agent.tsx'), first: 'console/installations/:id' },
  { path: '/marketplace', load: () => import('./screens/marketplace.tsx') },
  { path: '/marketplace/:slug', load: () => import('./screens/app.tsx') },
  { path: '/publishers/:id', load: () => import('./screens/publisher.tsx') },
  { path: '/runs', load: () => import('./screens/runs.tsx'), first: 'console/runs' },
  { path: '/runs/:id', load: () => import('./screens/run.tsx'), first: 'console/runs/:id console/runs/:id/trace' },
  {
    path: '/runs/:id/compare',
    load: () => import('./screens/compare.tsx'),
    first: 'console/runs/:id console/runs/:id/trace',
  },
  { path: '/schedules', load: () => import('./screens/schedules.tsx'), first: 'console/schedules' },
  { path: '/schedules/:id', load: () => import('./screens/schedule.tsx'), first: 'console/schedules/:id' },
  { path: '/files', load: () => import('./screens/files.tsx') },
  { path: '/messenger', load: () => import('./screens/messenger.tsx') },
  { path: '/messenger/:id', load: () => import('./screens/messenger-chat.tsx') },
  { path: '/open/:id', load: () => import('./screens/open.tsx') },
  { path: '/notifications', load: () => import('./screens/notifications.tsx'), first: 'console/notifications' },
  { path: '/access', load: () => import('./screens/access.tsx') },
  { path: '/assistants', load: () => import('./screens/assistants.tsx') },
  { path: '/wishlist', load: () => import('./screens/wishlist.tsx') },
  { path: '/settings', load: () => import('./screens/settings.tsx') },
  { path: '/approvals', load: () => import('./screens/approval-rules.tsx') },
  { path: '/usage', load: () => import('./screens/usage.tsx') },
  { path: '/members', load: () => import('./screens/members.tsx'), first: 'console/members' },
  { path: '/audit', load: () => import('./screens/audit.tsx'), only: isAdmin },
  ...(localSignIn ? [{ path: '/gallery', load: () => import('./screens/gallery.tsx') }] : []),
  { path: '/more', load: () => import('./screens/more.tsx') },
]
loadRoute(ROUTES)

const ForAdmins = () => (
  <Screen title={t('Admins only')}>
    <Empty title={t('Only workspace admins and owners can see this page.')}>
      <p>{t('Ask one of them to make you an admin.')}</p>
    </Empty>
  </Screen>
)

export const Screens = () => <RoutedScreen routes={ROUTES} refusal={<ForAdmins />} start={t('home page')} />
