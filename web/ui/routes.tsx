import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Lazy, type Load } from './lazy.tsx'
import { t } from './messages.ts'
import { match, place } from './router.ts'
import { Empty, Screen } from './screen.tsx'

/** A route whose script loads on first visit. */
export interface Route {
  path: string
  load: Load
  /**
   * Paths of the data that the screen asks for first, separated by spaces, with the place's variables. The page's head requests
   * them before any module runs (`web/theme/head.ts`).
   */
  first?: string
  /** True for users who may see it; everyone if omitted. */
  only?: ReadonlySignal<boolean>
}

/** Starts to load the script of the screen for the current address, while the page finds out who the user is. */
export const loadRoute = (routes: readonly Route[]): void => {
  const { path } = place.value
  void routes
    .find(({ path: pattern }) => match(pattern, path))
    ?.load()
    .catch(() => {})
}

/**
 * Renders the screen for the current address.
 * @param refusal shown if the user may not see the screen
 * @param start name of the start screen, for the link back
 */
export const RoutedScreen = ({
  routes,
  refusal,
  start,
}: {
  routes: readonly Route[]
  refusal: ComponentChildren
  start: string
}) => {
  const { path } = place.value
  for (const { path: pattern, load, only } of routes) {
    const variables = match(pattern, path)
    if (!variables) continue
    return only && !only.value ? refusal : <Lazy key={pattern} load={load} variables={variables} />
  }
  return (
    <Screen title={t('Page not found')}>
      <Empty title={t('This page doesn’t exist.')}>
        <a class="button" href="#/">
          {t('Go to the {start}', { start })}
        </a>
      </Empty>
    </Screen>
  )
}
