import { loadRoute, type Route, RoutedScreen } from '../../ui/routes.tsx'
import { Empty, Screen } from '../../ui/screen.tsx'
import { isSuperadmin } from './account.ts'

const ROUTES: readonly Route[] = [
  { path: '/', load: () => import('./screens/overview.tsx') },
  { path: '/review', load: () => import('./screens/review.tsx') },
  { path: '/apps', load: () => import('./screens/apps.tsx') },
  { path: '/apps/:id', load: () => import('./screens/app.tsx') },
  { path: '/abuse-reports', load: () => import('./screens/abuse-reports.tsx') },
  { path: '/verifications', load: () => import('./screens/verifications.tsx') },
  { path: '/reviews', load: () => import('./screens/reviews.tsx') },
  { path: '/requests', load: () => import('./screens/requests.tsx') },
  { path: '/developers', load: () => import('./screens/developers.tsx') },
  { path: '/developers/:id', load: () => import('./screens/developer.tsx') },
  { path: '/workspaces', load: () => import('./screens/workspaces.tsx') },
  { path: '/runs', load: () => import('./screens/runs.tsx') },
  { path: '/audit', load: () => import('./screens/audit.tsx') },
  { path: '/health', load: () => import('./screens/health.tsx') },
  { path: '/export', load: () => import('./screens/export.tsx') },
  { path: '/settings', load: () => import('./screens/settings.tsx') },
  { path: '/account', load: () => import('./screens/account.tsx') },
  { path: '/more', load: () => import('./screens/more.tsx') },
  { path: '/admins', load: () => import('./screens/admins.tsx'), only: isSuperadmin },
]
loadRoute(ROUTES)

const ForSuperadmins = () => (
  <Screen title="Superadmins only">
    <Empty title="Only superadmins can see this page.">
      <p>You’re a moderator. Ask a superadmin for help or to change your role.</p>
    </Empty>
  </Screen>
)

export const Screens = () => <RoutedScreen routes={ROUTES} refusal={<ForSuperadmins />} start="overview" />
