import { match, place } from '../../console/client/router.ts'
import { Empty, Screen } from '../../console/client/ui/kit.tsx'
import { Lazy, type Load } from '../../console/client/ui/lazy.tsx'
import { isSuperadmin } from './account.ts'

interface Route {
  path: string
  load: Load
  superadmins?: true
}

/** Every place, each with its own piece of script, which is loaded when somebody goes there. */
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
  { path: '/workspaces', load: () => import('./screens/workspaces.tsx') },
  { path: '/runs', load: () => import('./screens/runs.tsx') },
  { path: '/audit', load: () => import('./screens/audit.tsx') },
  { path: '/health', load: () => import('./screens/health.tsx') },
  { path: '/export', load: () => import('./screens/export.tsx') },
  { path: '/settings', load: () => import('./screens/settings.tsx') },
  { path: '/account', load: () => import('./screens/account.tsx') },
  { path: '/more', load: () => import('./screens/more.tsx') },
  { path: '/admins', load: () => import('./screens/admins.tsx'), superadmins: true },
]

export const Screens = () => {
  const { path } = place.value
  for (const { path: pattern, load, superadmins } of ROUTES) {
    const variables = match(pattern, path)
    if (!variables) continue
    if (superadmins && !isSuperadmin.value) {
      return (
        <Screen title="For superadmins">
          <Empty title="Only superadmins see this.">
            <p>You are a moderator. Ask a superadmin to look, or to give you the role.</p>
          </Empty>
        </Screen>
      )
    }
    return <Lazy key={pattern} load={load} variables={variables} />
  }
  return (
    <Screen title="Nothing here">
      <Empty title="There is no such page.">
        <a class="button" href="#/">
          Go to the overview
        </a>
      </Empty>
    </Screen>
  )
}
