import { type ComponentType, createElement } from 'preact'
import { Boundary } from './boundary.tsx'
import { t } from './messages.ts'
import { Empty, Screen, Skeleton } from './screen.tsx'
import { useScript } from './script.ts'

// biome-ignore lint/suspicious/noExplicitAny: each component takes properties of its own
export type Load = () => Promise<{ default: ComponentType<any> }>

/** Age of a page at which it loads what its session's end will need. */
const LATER_MS = 5 * 60_000

/** Loads a script after a while. A page that stays open then has it, even if a deployment has removed the file. */
export const loadLater = (load: Load): void => void setTimeout(() => load().catch(() => {}), LATER_MS)

const Reload = () => (
  <Empty title={t('This part of the page couldn’t be loaded.')}>
    <p>{t('It loads once you’re online. If you are, a new version may be available.')}</p>
    <button type="button" onClick={() => location.reload()}>
      {t('Reload')}
    </button>
  </Empty>
)

/** Makes a part of a screen whose script loads when it is first shown. @param load a constant function */
export const part = <P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> =>
  function Part(properties: P) {
    const { script, hasFailed } = useScript(load)
    if (script) {
      return (
        <Boundary kind="part" about={properties}>
          {createElement(script.default, properties)}
        </Boundary>
      )
    }
    return hasFailed ? <Reload /> : <Skeleton rows={2} />
  }

/** A screen whose script loads on first visit. */
export const Lazy = ({ load, variables }: { load: Load; variables: Record<string, string> }) => {
  const { script, hasFailed } = useScript(load)
  if (script) {
    const key = JSON.stringify(variables)
    return (
      <Boundary key={key} kind="page" about={key}>
        {createElement(script.default, variables)}
      </Boundary>
    )
  }
  if (!hasFailed) return <Skeleton rows={6} />
  return (
    <Screen title={t('Couldn’t load this page')}>
      <Reload />
    </Screen>
  )
}

/** A page's sign-in form, whose script most visits don't need. @param note why the page asks */
export const Entrance = ({ load, note }: { load: Load; note: string }) => {
  const { script, hasFailed } = useScript(load)
  if (script) return createElement(script.default, { note })
  return <main class="alone">{hasFailed ? <Reload /> : <p role="status">{t('Loading…')}</p>}</main>
}
