import type { Api } from './api.ts'
import { type Invocation, textOf, UsageError } from './command.ts'

export interface App {
  id: string
  slug: string
}

/** The help of an option that several commands have. */
export const APP_OPTION = '  --app <id or slug>  which app; else APP_ID; not needed while you have one'

/** The app that a command is about. @throws {UsageError} when it is none, or one of several */
export const chosenApp = async ({ values, env }: Invocation, api: Api, command: string): Promise<App> => {
  const wanted = textOf(values.app) ?? textOf(env.APP_ID)
  if (wanted?.startsWith('app_')) return api.insist('GET', `/api/v1/dev/apps/${encodeURIComponent(wanted)}`)
  // A developer has twenty at most: one page.
  const { items } = (await api.insist('GET', '/api/v1/dev/apps?limit=100')) as { items: App[] }
  const known = items.map(({ slug, id }) => `${slug} (${id})`).join(', ') || 'none'
  if (wanted !== undefined) {
    const found = items.find(({ slug }) => slug === wanted)
    if (found) return found
    throw new UsageError(`You have no app ${JSON.stringify(wanted)}. Your apps: ${known}.`, command)
  }
  const [only, ...others] = items
  if (only && others.length === 0) return only
  throw new UsageError(`Say which app, with --app or APP_ID. Your apps: ${known}.`, command)
}
