import type { Context } from '#infra/config.ts'

/** Reads settings given as `name=value`, as the CDK's option `-c` takes them. */
export const parseContext = (pairs: readonly string[] = []): Context =>
  Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.includes('=') ? pair.indexOf('=') : pair.length
      return [pair.slice(0, end), pair.slice(end + 1)]
    }),
  )
