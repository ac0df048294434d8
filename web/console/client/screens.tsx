import { isAdmin } from './account.ts'
import { match, place } from './router.ts'
import { Empty, Screen } from './ui/kit.tsx'
import { Lazy, type Load } from './ui/lazy.tsx'

interface Route {
  path: string
  load: Load
  admins?: true
}

/** Every place, each with its own piece of script, which is loaded when somebody goes there. */
const ROUTES: Route[] = [
  { path: '/', load: () => import('./screens/home.tsx') },
  { path: '/chat', load: () => import('./screens/chat.tsx') },
  { path: '/chat/:id', load: () => import('./screens/chat.tsx') },
  { path: '/tasks', load: () => import('./screens/tasks.tsx') },
  { path: '/tasks/:id', load: () => import('./screens/task.tsx') },
  { path: '/agents', load: () => import('./screens/agents.tsx') },
  { path: '/agents/:id', load: () => import('./screens/agent.tsx') },
  { path: '/marketplace', load: () => import('./screens/marketplace.tsx') },
  { path: '/marketplace/:slug', load: () => import('./screens/app.tsx') },
  { path: '/runs', load: () => import('./screens/runs.tsx') },
  { path: '/runs/:id', load: () => import('./screens/run.tsx') },
  { path: '/files', load: () => import('./screens/files.tsx') },
  { path: '/messenger', load: () => import('./screens/messenger.tsx') },
  { path: '/messenger/:id', load: () => import('./screens/messenger-chat.tsx') },
  { path: '/notifications', load: () => import('./screens/notifications.tsx') },
  { path: '/access', load: () => import('./screens/access.tsx') },
  { path: '/wishlist', load: () => import('./screens/wishlist.tsx') },
  { path: '/settings', load: () => import('./screens/settings.tsx') },
  { path: '/members', load: () => import('./screens/members.tsx') },
  { path: '/audit', load: () => import('./screens/audit.tsx'), admins: true },
  { path: '/more', load: () => import('./screens/more.tsx') },
]

export const Screens = () => {
  const { path } = place.value
  for (const { path: pattern, load, admins } of ROUTES) {
    const variables = match(pattern, path)
    if (!variables) continue
    if (admins && !isAdmin.value) {
      return (
        <Screen title="For admins">
          <Empty title="Only admins and owners of the workspace see this.">
            <p>Ask one of them to look, or to give you the role.</p>
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
          Go to the start
        </a>
      </Empty>
    </Screen>
  )
}
