import { readFileSync } from 'node:fs'
import type { Api } from './api.ts'
import { type Invocation, textOf, UsageError } from './command.ts'

export interface App {
  id: string
  slug: string
}

/** Help for `--app`, an option of several commands. */
export const APP_OPTION = '  --app <id or slug>  the app; default: APP_ID, the app in aip.json, or your only app'

/** File that `init` writes: the app of a folder. */
export const PROJECT_FILE = 'aip.json'

/** Returns the app of the current folder, if it is one of this platform. @throws {UsageError} */
const projectApp = (baseUrl: string, command: string): string | undefined => {
  let text: string
  try {
    text = readFileSync(PROJECT_FILE, 'utf8')
  } catch {
    return undefined
  }
  try {
    const { app_id, base_url } = JSON.parse(text)
    return typeof app_id === 'string' && base_url === baseUrl ? app_id : undefined
  } catch {
    throw new UsageError(`${PROJECT_FILE} isn’t valid JSON.`, command)
  }
}

/** Finds the app that a command applies to. @throws {UsageError} if there is none, or more than one */
export const loadChosenApp = async ({ values, env }: Invocation, api: Api, command: string): Promise<App> => {
  const requested = textOf(values.app) ?? textOf(env.APP_ID) ?? projectApp(api.baseUrl, command)
  if (requested?.startsWith('app_')) return api.insist('GET', `/api/v1/dev/apps/${encodeURIComponent(requested)}`)
  // One page, because a developer has at most twenty apps.
  const { items } = (await api.insist('GET', '/api/v1/dev/apps?limit=100')) as { items: App[] }
  const available = items.map(({ slug, id }) => `${slug} (${id})`).join(', ') || 'none'
  if (requested !== undefined) {
    const found = items.find(({ slug }) => slug === requested)
    if (found) return found
    throw new UsageError(`You don’t have an app ${JSON.stringify(requested)}. Your apps: ${available}.`, command)
  }
  const [only, ...others] = items
  if (only && others.length === 0) return only
  throw new UsageError(`Choose an app with --app or APP_ID. Your apps: ${available}.`, command)
}
