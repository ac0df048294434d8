import { useEffect, useState } from 'preact/hooks'

const loaded = new Map<() => Promise<object>, object>()

/** Loads a script when something that needs it is shown. */
export const useScript = <T extends object>(load: () => Promise<T>): { script: T | undefined; hasFailed: boolean } => {
  const [, setTurn] = useState(0)
  const [hasFailed, setFailed] = useState(false)
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
        (script) => {
          loaded.set(load, script)
          show()
        },
        () => here && setFailed(true),
      )
    return () => {
      here = false
    }
  }, [load])
  return { script: loaded.get(load) as T | undefined, hasFailed }
}
