import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from '#infra/bundle/prebuild.ts'
import { HTTP_INTEGRATION_TYPE } from './functions/protocol.ts'
import type { InvokeInterceptor } from './functions.ts'

/** Paths of the parts of what `pages` and `packages` serve. Other answers need no build. */
const PATHS: Record<Part, RegExp> = {
  docs: /^\/(docs|openapi|llms|api\/v1\/dev\/sdk)/,
  console: /^\/app/,
  admin: /^\/staff/,
  developers: /^\/developers/,
  packages: /^\/packages/,
}
const parts = Object.keys(PATHS) as Part[]

/** Names of the parts in messages. */
const NAMES: Record<Part, string> = {
  docs: 'the documentation',
  console: 'the console',
  admin: 'the staff’s page',
  developers: 'the developer portal',
  packages: 'the packages',
}

/** Less than the gateway waits for a function. */
const WAIT_MS = 25_000

/** Pages that are still being built while the API runs. */
export interface Pages {
  /** Takes the result of a part's build, or of a later one. */
  built(part: Part, error?: string): void
  /** Lets requests for a part wait until it is built. Answers with the error if that failed. */
  intercept: InvokeInterceptor
}

const unavailable = (part: Part, body: string): Awaited<ReturnType<InvokeInterceptor>> => {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  if (part !== 'packages')
    return { kind: 'value', value: { statusCode: 503, headers, body }, bytes: Buffer.byteLength(body) }
  // Its function streams, so the gateway takes nothing else.
  const prelude = JSON.stringify({ statusCode: 503, headers })
  return {
    kind: 'stream',
    contentType: HTTP_INTEGRATION_TYPE,
    body: Readable.from([Buffer.from(`${prelude}${'\0'.repeat(8)}${body}`)]),
  }
}

/** @param report called with the reason if a part can't be built */
export const createPages = (report: (reason: string) => void, waitMs = WAIT_MS): Pages => {
  const waiting = new Map(parts.map((part) => [part, Promise.withResolvers<void>()]))
  const errors = new Map<Part, string>()
  return {
    built: (part, error) => {
      if (error === undefined) errors.delete(part)
      else {
        errors.set(part, `Building ${NAMES[part]} failed:\n\n${error}`)
        report(`building ${NAMES[part]} failed:\n${error}`)
      }
      waiting.get(part)?.resolve()
      waiting.delete(part)
    },
    intercept: async (event, next) => {
      const { path } = event as { path: string }
      const part = parts.find((one) => PATHS[one].test(path))
      if (part === undefined) return next(event)
      const build = waiting.get(part)
      if (build) await Promise.race([build.promise, sleep(waitMs, undefined, { ref: false })])
      if (waiting.has(part))
        return unavailable(part, `Building ${NAMES[part]} takes long. Reload this page in a moment.`)
      const error = errors.get(part)
      return error === undefined ? next(event) : unavailable(part, error)
    },
  }
}
