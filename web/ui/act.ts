import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, toFailure } from '../session/failure.ts'

/**
 * Runs an action, such as a button press, and keeps its error for display. Ignores further presses while one is running.
 * Controls aren't disabled during it, because that would drop keyboard focus.
 */
export const useAction = () => {
  const running = useRef(false)
  const here = useRef(true)
  const [state, setState] = useState<{ busy: boolean; failure?: Failure }>({ busy: false })
  useEffect(
    () => () => {
      here.current = false
    },
    [],
  )
  const act = async (what: () => Promise<unknown>): Promise<boolean> => {
    if (running.current) return false
    running.current = true
    setState({ busy: true })
    try {
      await what()
      if (here.current) setState({ busy: false })
      return true
    } catch (error) {
      const failure = toFailure(error)
      // An expired session already shows the sign-in form.
      if (here.current) setState(failure.status === 401 ? { busy: false } : { busy: false, failure })
      return false
    } finally {
      running.current = false
    }
  }
  return { ...state, act, clear: () => setState({ busy: false }) }
}
