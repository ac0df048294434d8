import { useState } from 'preact/hooks'
import { type Failure, toFailure } from '../../session/failure.ts'

/** A form that shows errors itself, because the shared one leaves a 401 to the sign-in screen. */
export const useSending = (what: () => Promise<void>) => {
  const [state, setState] = useState<{ busy: boolean; failure?: Failure }>({ busy: false })
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (state.busy) return
    setState({ busy: true })
    try {
      await what()
      setState({ busy: false })
    } catch (error) {
      setState({ busy: false, failure: toFailure(error) })
    }
  }
  return { ...state, send }
}
