import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expanded } from './guide-tables.ts'

const SOURCES = join(import.meta.dirname, '../../docs/guides')

/** The start page, `/docs`, is this guide; the others are below it by their names. */
export const START = 'start'

/** Every guide with what it is for, in the order in which one reads them. */
export const GUIDES: Readonly<Record<string, string>> = {
  quickstart: 'From nothing to an agent that runs, tells you by webhook, and is installed.',
  agents: 'What an agent gets and answers: long work, tools, approvals, settings, other agents.',
  oauth: 'A customer’s consent, tokens, refreshing and revoking them.',
  webhooks: 'Signatures, repeats, retries, and every event type.',
  requests: 'Credentials and scopes, safe repeats, pages, when to try again.',
  errors: 'Every error code: why it comes and what to do.',
  limits: 'Rates, sizes and lifetimes.',
  versioning: 'What stays as it is, what may be added, and how manifests change.',
}

/** A guide as Markdown with its tables filled in. `{{base_url}}` stands for the platform’s address. */
export interface Guide {
  name: string
  title: string
  description: string
  markdown: string
}

const TITLE = /^# (.+)$/m

const guide = async (name: string, titles: Readonly<Record<string, string>>): Promise<Guide> => {
  const source = await readFile(join(SOURCES, `${name}.md`), 'utf8')
  const markdown = expanded(source, {
    guides: () =>
      Object.entries(GUIDES)
        .map(([other, description]) => `- [${titles[other]}](${other}.md): ${description}`)
        .join('\n'),
  })
  return { name, title: titles[name] ?? '', description: GUIDES[name] ?? '', markdown }
}

/** The start page and the guides, in order. */
export const readGuides = async (): Promise<{ start: Guide; guides: Guide[] }> => {
  const titleOf = async (name: string): Promise<[string, string]> => {
    const [, title] = TITLE.exec(await readFile(join(SOURCES, `${name}.md`), 'utf8')) ?? []
    if (title === undefined) throw new Error(`docs/guides/${name}.md has no title`)
    return [name, title]
  }
  const titles = Object.fromEntries(await Promise.all([START, ...Object.keys(GUIDES)].map(titleOf)))
  const guides = await Promise.all(Object.keys(GUIDES).map((name) => guide(name, titles)))
  return { start: await guide(START, titles), guides }
}
