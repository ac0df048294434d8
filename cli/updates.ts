import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { send } from './http.ts'
import { configFolder } from './profiles.ts'
import { packageScope, version } from './version.ts'

const DAY_MS = 24 * 3_600_000

export interface Updates {
  /** Asks the platform for its version of this tool, while the command runs. Does so once a day. */
  ask(baseUrl: string): void
  /** Ends the question. @returns what to tell the user, if the platform has a newer version and has answered by now */
  end(): string | undefined
}

/**
 * Finds out whether the platform has a newer version of this tool. It never delays a command, and no failure shows.
 * @param isWanted false for output that no person reads
 */
export const createUpdates = (env: Record<string, string | undefined>, isWanted: boolean): Updates => {
  const ended = new AbortController()
  const isOn = isWanted && !isSet(env.NO_UPDATE_NOTIFIER) && !(isSet(env.CI) && env.CI !== 'false')
  let asked = false
  let told: string | undefined

  const find = async (baseUrl: string): Promise<void> => {
    const file = path.join(configFolder(env), 'updates.json')
    const checked = readChecks(file)
    if (Date.now() - Date.parse(checked[baseUrl] ?? '1970-01-01') < DAY_MS) return
    const response = await send(
      `${baseUrl}/packages/`,
      { headers: { accept: 'application/json' }, signal: ended.signal },
      env,
    )
    if (!response.ok) return
    const { packages } = (await response.json()) as { packages: { name: string; version: string }[] }
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${JSON.stringify({ ...checked, [baseUrl]: new Date().toISOString() }, null, 2)}\n`)
    told = noticeOf(baseUrl, packages.find(({ name }) => name === nameOfTool())?.version ?? '')
  }

  return {
    ask(baseUrl) {
      if (!isOn || asked) return
      asked = true
      find(baseUrl).catch(() => {})
    },
    end() {
      ended.abort()
      return told
    },
  }
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== ''

const nameOfTool = (): string => `${packageScope()}/cli`

/** Reads when each platform was asked last. */
const readChecks = (file: string): Record<string, string> => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}

const noticeOf = (baseUrl: string, served: string): string | undefined => {
  const own = version()
  const [theirs, ours] = [numbersOf(served), numbersOf(own)]
  const first = theirs?.findIndex((number, i) => number !== ours?.[i]) ?? -1
  if (!theirs || !ours || first < 0 || (theirs[first] ?? 0) < (ours[first] ?? 0)) return undefined
  const what =
    first === 0
      ? `This aip (${own}) is too old for the platform, which has ${served}. Some commands may fail.`
      : `The platform has a newer version of aip: ${served} (this is ${own}).`
  const registry = `--${packageScope()}:registry=${baseUrl}/packages/npm/`
  return `\n${what}\n  npm install --global ${nameOfTool()} ${registry}`
}

/** Returns the parts of a version. Anything else than three numbers isn't a version of ours. */
const numbersOf = (text: string): number[] | undefined =>
  /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text) ? text.split('.').map(Number) : undefined
