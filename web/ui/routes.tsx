import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Lazy, type Load } from './lazy.tsx'
import { match, place } from './router.ts'
import { Empty, Screen } from './screen.tsx'

/** A place with a piece of script of its own, which is loaded when somebody goes there. */
export interface Route {
  path: string
  load: Load
  /** Whom it is for; everybody, unless given. */
  only?: ReadonlySignal<boolean>
}

/**
 * The screen of the place where the person is.
 * @param refusal stands where a place is not for them
 * @param start what the way back is called
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
    <Screen title="Nothing here">
      <Empty title="There is no such page.">
        <a class="button" href="#/">
          Go to the {start}
        </a>
      </Empty>
    </Screen>
  )
}
