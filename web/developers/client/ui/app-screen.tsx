import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Known, useData } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { place } from '../../../ui/router.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { State } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { NextStep } from './next-step.tsx'

export type App = Schemas['App']

const TABS = [
  ['', t('Overview')],
  ['/versions', t('Versions')],
  ['/test', t('Test')],
  ['/runs', t('Runs')],
  ['/webhooks', t('Webhooks')],
  ['/figures', t('Figures')],
  ['/reviews', t('Reviews')],
  ['/settings', t('Settings')],
] as const

const useApp = (id: string): Known<App> & { reload: () => void } =>
  useData(`app ${id}`, () => unwrap(api.GET('/api/v1/dev/apps/{id}', { params: { path: { id } } })))

/** One of an app's screens, with links to the others. The heading is the app's name. */
export const AppScreen = ({
  id,
  title,
  children,
}: {
  id: string
  title: string
  children: (app: App) => ComponentChildren
}) => {
  const known = useApp(id)
  const { path } = place.value
  const tabs = useRef<HTMLElement>(null)
  useEffect(() => {
    // In a narrow window the current tab may be out of sight. The page itself stays where it is.
    const current = tabs.current?.querySelector<HTMLElement>('[aria-current]')
    if (current) tabs.current?.scrollTo({ left: current.offsetLeft - tabs.current.offsetLeft })
  }, [path])
  return (
    <Screen
      title={known.data ? `${known.data.name}: ${title}` : title}
      heading={known.data?.name ?? t('App')}
      back={{ to: '/', label: t('Apps') }}
      actions={
        known.data && (
          <>
            {known.data.pending_revision && <span class="state warn">{t('Changes in review')}</span>}
            <State name={known.data.status} />
          </>
        )
      }
      wide
    >
      <nav class="tabs" aria-label={t('App')} ref={tabs}>
        {TABS.map(([to, label]) => {
          const address = `/apps/${id}${to}`
          const isHere = to === '' ? path === address : path === address || path.startsWith(`${address}/`)
          return (
            <a key={to} href={`#${address}`} {...(isHere && { 'aria-current': 'page' as const })}>
              {label}
            </a>
          )
        })}
      </nav>
      <Shown known={known}>
        {(app) => (
          <>
            <NextStep app={app} />
            {children(app)}
          </>
        )}
      </Shown>
    </Screen>
  )
}
