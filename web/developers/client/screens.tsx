import { t } from '../../ui/messages.ts'
import { loadRoute, type Route, RoutedScreen } from '../../ui/routes.tsx'

const ROUTES: readonly Route[] = [
  { path: '/', load: () => import('./screens/apps.tsx') },
  { path: '/new', load: () => import('./screens/new-app.tsx') },
  { path: '/apps/:id', load: () => import('./screens/app.tsx') },
  { path: '/apps/:id/versions', load: () => import('./screens/versions.tsx') },
  { path: '/apps/:id/test', load: () => import('./screens/test.tsx') },
  { path: '/apps/:id/runs', load: () => import('./screens/runs.tsx') },
  { path: '/apps/:id/runs/:run', load: () => import('./screens/run.tsx') },
  { path: '/apps/:id/webhooks', load: () => import('./screens/webhooks.tsx') },
  { path: '/apps/:id/webhooks/:webhook', load: () => import('./screens/webhook.tsx') },
  { path: '/apps/:id/figures', load: () => import('./screens/figures.tsx') },
  { path: '/apps/:id/reviews', load: () => import('./screens/reviews.tsx') },
  { path: '/apps/:id/settings', load: () => import('./screens/settings.tsx') },
  { path: '/requests', load: () => import('./screens/requests.tsx') },
  { path: '/sandbox', load: () => import('./screens/sandbox.tsx') },
  { path: '/team', load: () => import('./screens/team.tsx') },
  { path: '/account', load: () => import('./screens/account.tsx') },
  { path: '/terminal', load: () => import('./screens/terminal.tsx') },
  { path: '/terminal/:result', load: () => import('./screens/terminal.tsx') },
  { path: '/more', load: () => import('./screens/more.tsx') },
]
loadRoute(ROUTES)

export const Screens = () => <RoutedScreen routes={ROUTES} refusal={null} start={t('list of apps')} />
