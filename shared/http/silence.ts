import { LIMITS } from '../kernel/limits.ts'

interface Silence {
  /** Resolves with undefined when the silence has lasted so long that clients would soon give up, or at `signal`. */
  passed: Promise<undefined>
  end(): void
}

/** Starts to measure the silence of a response. */
export const startSilence = (signal?: AbortSignal): Silence => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const pass = () => resolve(undefined)
  const timer = setTimeout(pass, LIMITS.streamSilence)
  if (signal?.aborted) pass()
  signal?.addEventListener('abort', pass)
  return {
    passed: promise,
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', pass)
    },
  }
}
