/** Aborts at Ctrl-C and at a request to end. @returns `end`, which gives the signals their ordinary meaning back */
export const stopping = (): { signal: AbortSignal; end(): void } => {
  const controller = new AbortController()
  const stop = () => controller.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  return {
    signal: controller.signal,
    end() {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop)
    },
  }
}
