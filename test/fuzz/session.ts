import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { send, startLocal } from '#test/e2e/support.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { configurationOf, type Effort } from './configuration.ts'
import { type Answers, watchRequests } from './limits.ts'
import type { Principal } from './principals.ts'
import { type Findings, NOTHING, runSchemathesis } from './schemathesis.ts'
import { createWorld } from './world.ts'

/** Findings for one principal. */
export interface Seen extends Findings {
  name: string
  answers: Answers
  seconds: number
}

/** Starts a local platform with its own data for principals to call. @param command path of schemathesis */
export const openSession = async (command: string, effort: Effort) => {
  const { folder, remove } = scratchFolder('fuzz-')
  // Limits by address would count all principals together.
  const env = { ADDRESS_RATE_LIMITS: 'false', LOG_LEVEL: 'error' }
  const { platform, baseUrl, stop } = await startLocal({ dataDir: join(folder, 'data'), env }).catch((error) => {
    remove()
    throw error
  })
  const errors: string[] = []
  platform.onLog((entry) => {
    if (entry.kind === 'function' && /"level":"error"/i.test(entry.line))
      errors.push(`${entry.functionName} ${entry.line}`)
    else if (entry.kind === 'platform') errors.push(entry.message)
  })
  const requests = watchRequests(platform)
  const document = join(folder, 'openapi.json')
  await writeFile(document, JSON.stringify(await declared(baseUrl)))
  const findings = async (principal: Principal, answers: Answers): Promise<Findings> => {
    const { name, holds } = principal
    const place = join(folder, name.replaceAll(' ', '-'))
    const [configuration, report] = [`${place}.toml`, `${place}.json`]
    // Failed sign-ins count against the address, which all principals share.
    await requests.fill(['admin-address:127.0.0.1'])
    const world = await createWorld(platform)
    try {
      requests.watch(name, world.buckets, answers)
      await writeFile(configuration, configurationOf(principal, world, effort, { baseUrl, report }))
      const found = await runSchemathesis(command, { document, configuration, report })
      const { status } = await send(baseUrl, 'GET', holds ?? '/', { headers: principal.credential(world) })
      if (holds && status !== 200) found.errors.push(`the credential did not last: ${holds} answers ${status}`)
      return found
    } finally {
      await world.close()
    }
  }
  return {
    /** Calls every operation with data of its own. */
    async fuzz(principal: Principal): Promise<Seen> {
      const began = performance.now()
      const answers: Answers = {}
      const found = await findings(principal, answers).catch((error) => ({
        ...NOTHING,
        errors: [error instanceof Error ? error.message : String(error)],
      }))
      return { ...found, name: principal.name, answers, seconds: (performance.now() - began) / 1_000 }
    },
    /** Returns what the functions logged as errors since the last call. */
    logged: (): string[] => errors.splice(0),
    async close(): Promise<void> {
      requests.close()
      await stop()
      remove()
    },
  }
}

/**
 * Loads the document without the default answers of every operation, and without operations of other servers. The answers of the
 * gateway would make every status a documented one.
 */
const declared = async (baseUrl: string): Promise<object> => {
  const { body } = await send(baseUrl, 'GET', '/openapi.json')
  type Operations = Record<string, { servers?: object; responses: { default?: object } }>
  for (const [path, operations] of Object.entries<Operations>(body.paths)) {
    for (const { servers, responses } of Object.values(operations)) {
      delete responses.default
      if (servers) delete body.paths[path]
    }
  }
  return body
}
