/** Aborts a signal at Ctrl-C or a termination signal. @returns `end`, which restores the default behavior */
export const abortOnSignals = (): { signal: AbortSignal; end(): void } => {
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
