import { useEffect, useState } from 'preact/hooks'
import { toFailure } from '../session/failure.ts'
import { whenReachable } from '../session/reachable.ts'

const loaded = new Map<() => Promise<object>, object>()

/** Loads a script when something that needs it is shown. Without a connection, it loads once there is one. */
export const useScript = <T extends object>(load: () => Promise<T>): { script: T | undefined; hasFailed: boolean } => {
  const [, setTurn] = useState(0)
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    setFailed(false)
    let here = true
    let stop = (): unknown => undefined
    const show = (): void => {
      if (here) setTurn((turn) => turn + 1)
    }
    const attempt = async (): Promise<void> => {
      try {
        loaded.set(load, await load())
        show()
      } catch (error) {
        if (!here) return
        setFailed(true)
        // A script that isn't there, or throws, would fail again.
        if (toFailure(error).code === 'no_connection') stop = whenReachable(attempt)
      }
    }
    // It may have loaded between render and effect.
    if (loaded.has(load)) show()
    else void attempt()
    return () => {
      here = false
      stop()
    }
  }, [load])
  return { script: loaded.get(load) as T | undefined, hasFailed }
}
