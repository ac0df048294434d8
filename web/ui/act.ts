import { useEffect, useRef, useState } from 'preact/hooks'
import { asFailure, type Failure } from '../session/failure.ts'

/**
 * Something that a press does. While it is under way a second press does nothing; a failure is kept to be shown.
 * Nothing is disabled meanwhile, which would take the focus away from whoever uses a keyboard.
 */
export const useAct = () => {
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
      const failure = asFailure(error)
      // Whose session is over is asked to sign in, which says enough.
      if (here.current) setState(failure.status === 401 ? { busy: false } : { busy: false, failure })
      return false
    } finally {
      running.current = false
    }
  }
  return { ...state, act, clear: () => setState({ busy: false }) }
}
