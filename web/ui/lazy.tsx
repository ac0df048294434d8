import { type ComponentType, createElement } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Empty, Screen, Skeleton } from './screen.tsx'

// biome-ignore lint/suspicious/noExplicitAny: each screen takes the variables of its own path
export type Load = () => Promise<{ default: ComponentType<any> }>

const loaded = new Map<Load, ComponentType<object>>()

/** A screen whose script loads on first visit. */
export const Lazy = ({ load, variables }: { load: Load; variables: Record<string, string> }) => {
  const [, setTurn] = useState(0)
  const [failed, setFailed] = useState(false)
  const screen = loaded.get(load)
  useEffect(() => {
    setFailed(false)
    let here = true
    const show = (): void => {
      if (here) setTurn((turn) => turn + 1)
    }
    // It may have loaded between render and effect.
    if (loaded.has(load)) show()
    else
      load().then(
        ({ default: one }) => {
          loaded.set(load, one)
          show()
        },
        () => here && setFailed(true),
      )
    return () => {
      here = false
    }
  }, [load])
  if (screen) return createElement(screen, { key: JSON.stringify(variables), ...variables })
  if (!failed) return <Skeleton rows={6} />
  return (
    <Screen title="Couldn’t load this page">
      <Empty title="This part of the page couldn’t be loaded.">
        <p>A new version may be available, or you may be offline.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Empty>
    </Screen>
  )
}
